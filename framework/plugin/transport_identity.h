#pragma once
#include <cstring>
#include <string_view>

#include "framework/base/hash.h"
#include "framework/plugin/transport.h"

// What a transport tells its peers of the process, and what it makes of what they tell.
namespace ashlar::plugin {

/// What tells the job of the context from all others; an older kernel does not say it.
inline void job_of(const ashlar_transport_context& context, std::uint64_t job[2]) {
  if (ASHLAR_HAS(&context, peer_of) && context.peer_of != nullptr) {
    job[0] = context.job[0];
    job[1] = context.job[1];
    return;
  }
  Hash hash;
  hash.add(std::string_view(context.job_id != nullptr ? context.job_id : ""));
  job[0] = hash.value();
  hash.add(context.job_cookie);
  job[1] = hash.value();
}

/// The kernel's number of rank `rank` of a job; ASHLAR_NOBODY: it does not know that process.
inline std::uint32_t number_of(const ashlar_transport_context& context, const std::uint64_t job[2],
                               std::uint32_t rank) {
  if (ASHLAR_HAS(&context, peer_of) && context.peer_of != nullptr)
    return context.peer_of(context.lane_context, job, rank);
  std::uint64_t own[2];
  job_of(context, own);
  return std::memcmp(own, job, sizeof own) == 0 ? rank : ASHLAR_NOBODY;
}

}  // namespace ashlar::plugin
