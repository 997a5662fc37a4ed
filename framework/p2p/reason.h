#pragma once
#include <mpi.h>

#include "framework/progress/request.h"
#include "framework/progress/waiting.h"

/// What the waits of this room, and of those that wait for its operations, are for. They cost nothing until asked.
namespace ashlar::p2p {

struct RequestArray {
  int count;
  const MPI_Request* handles;
};

void tell_request(const void* request, Lane& lane, plugin::AccountWriter& account);
void tell_requests(const void* array, Lane& lane, plugin::AccountWriter& account);
void tell_gate(const void* gate, Lane& lane, plugin::AccountWriter& account);

inline progress::Reason because_of(const Request& request) { return {.tell = tell_request, .what = &request}; }

/// A call that ends only when the operations of a communicator, or of the whole lane (nullptr), are over.
struct Leaving {
  const char* call;
  const Comm* comm;
};
void tell_leaving(const void* leaving, Lane& lane, plugin::AccountWriter& account);
inline progress::Reason because_of(const Leaving& leaving) { return {.tell = tell_leaving, .what = &leaving}; }
/// The array outlives the wait.
inline progress::Reason because_of(const RequestArray& requests) { return {.tell = tell_requests, .what = &requests}; }
/// The operations that have counted themselves on the gate.
inline progress::Reason because_of(const Gate& gate) { return {.tell = tell_gate, .what = &gate}; }

}  // namespace ashlar::p2p
