#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "framework/base/status.h"
#include "framework/rma/window.h"

/// What processes tell each other when a window is made. Collective over the communicator that the user gave.
namespace ashlar::rma {

/// All cards, by rank.
Status exchange(Comm& comm, const Card& own, std::vector<Card>* cards);
/// The same of `bytes` bytes that a component wants known: `all` has room for those of every rank.
Status exchange_bytes(Comm& comm, const void* own, std::size_t bytes, void* all);
/// Where the part of a process of this node lies here; *out is nullptr when it has no bytes, or is the memory of a
/// dynamic window. Fails when this process cannot map it.
Status map_part(const RmaWindow& window, Rank rank, std::byte** out);
/// Whether `yes` is so on every process.
Status all_agree(Comm& comm, bool yes, bool* all);
/// What has to be known of every process before contiguous shared memory can be allocated.
struct Part {
  std::uint64_t size = 0;
  std::int32_t failed = 0;  // an error class: there will be no window
  std::uint32_t noncontiguous = 0;
};
Status exchange_parts(Comm& comm, const Part& own, std::vector<Part>* parts);
/// The failure of a window that `rank` could not take part in.
Status failed_elsewhere(const Comm& comm, std::span<const Card> cards);

}  // namespace ashlar::rma
