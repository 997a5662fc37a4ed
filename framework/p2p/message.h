#pragma once
#include "framework/object/object.h"

namespace ashlar {
class Comm;

namespace p2p {
struct Arrival;
struct LaneState;
}  // namespace p2p

/// The object behind an MPI_Message: a message that a matching probe took out of the queue. Exactly one receive may
/// take it from here. It keeps a reference to its communicator until then.
struct MessageObject : Object {
  constexpr MessageObject() : Object(Kind::kMessage) {}
  MessageObject(Comm& c, p2p::Arrival& a) : Object(Kind::kMessage), comm(&c), arrival(&a) {}
  Comm* comm = nullptr;  // nullptr: MPI_MESSAGE_NO_PROC
  p2p::Arrival* arrival = nullptr;
};

namespace p2p {

/// Puts the object of MPI_MESSAGE_NO_PROC in its place. Idempotent.
void register_no_proc_message();

}  // namespace p2p
}  // namespace ashlar
