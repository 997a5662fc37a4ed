#pragma once
#include "framework/object/object.h"

namespace ashlar {
class Comm;
class Request;

namespace p2p {
struct Arrival;
}  // namespace p2p

/// The object behind an MPI_Message: a message that a matching probe took out of the queue. Exactly one receive may
/// take it from here. It keeps a reference to its communicator until then.
struct MessageObject : Object {
  MessageObject() : Object(Kind::kMessage) {}
  MessageObject(Comm& c, p2p::Arrival& a);
  ~MessageObject();
  Ref<Comm> comm;  // none: MPI_MESSAGE_NO_PROC
  p2p::Arrival* arrival = nullptr;
  Request* no_receive = nullptr;  // of MPI_MESSAGE_NO_PROC: the request that MPI_Imrecv gives out, complete
};

namespace p2p {

/// Puts `message` behind the handle MPI_MESSAGE_NO_PROC, and takes it away.
void register_no_proc(MessageObject& message, Request& no_receive);
void unregister_no_proc(MessageObject& message);

}  // namespace p2p
}  // namespace ashlar
