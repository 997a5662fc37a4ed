#pragma once
#include <cstdint>
#include <span>

#include "framework/base/hash.h"
#include "framework/base/status.h"

namespace ashlar {
class Comm;
}
namespace ashlar::io {

class OpenFile;
struct AgreedValues;

/// An argument that has to be the same on all processes.
struct Same {
  const char* argument;
  std::int64_t value;
  const char* text = nullptr;  // what `value` is a hash of
};
/// A text, compared by its hash.
inline Same same_text(const char* argument, const char* text) {
  return {.argument = argument, .value = static_cast<std::int64_t>(Hash::of(text) >> 1), .text = text};
}

/// Every process of the communicator calls it, whatever has failed before: a failure of one is a failure of all, of its
/// class; where several have failed, of the class of the lowest rank. The failed process keeps its own words. Then
/// compares values: MPI_ERR_NOT_SAME. `path` is for the words. `*largest`, if given: a value of this process, and then
/// the largest of all. Until all have called it.
Status agree(Comm& comm, const char* path, Status own, std::span<const Same> same = {},
             std::int64_t* largest = nullptr);

/// Whether rank 0 waits until the others have left the memory that the processes share, which it may free afterwards.
enum class Stay : unsigned char { kShort, kLong };

/// The same of the processes of a file: in the memory that they share, where they do, else by messages that meet those
/// of collective accesses.
Status agree(OpenFile& file, Status own, std::span<const Same> same = {}, Stay stay = Stay::kShort);
/// The largest of each value, in `*most`.
Status exchange(OpenFile& file, const AgreedValues& mine, Stay stay, AgreedValues* most);

}  // namespace ashlar::io
