#pragma once
#include <cstddef>
#include <cstdint>

#include "components/coll/shm/comm.h"

namespace ashlar::coll::shm {

/// What a rank's line holds in a scatter or gather of blocks: how long the rank's block is, which says how it travels;
/// the shortest blocks themselves; and where a long one lies or goes.
struct BlockLine {
  static constexpr std::uint64_t kNotCopied = UINT64_MAX;

  std::uint64_t bytes;  // as the block's sender has it; kNotCopied: the sender could not copy it
  std::byte data[kInline - 3 * sizeof(std::uint64_t)];
  std::uint64_t address;  // of a scatter's block, or of the root's memory for a gather's
  std::uint64_t room;     // bytes there

  static BlockLine& in(FlagLine& line) { return *reinterpret_cast<BlockLine*>(line.data); }
  static BlockLine& of(const Ticket& ticket, std::uint32_t r) { return in(ticket.line(r)); }
};
static_assert(sizeof(BlockLine) == kInline);

/// How a block travels. The sender goes by its own length, the receiver by the length in the line, so a block that is
/// longer than its receiver expects is an error there and nowhere else.
enum class Route : std::uint8_t {
  kLine,        // in the line
  kBuffer,      // in the bounce buffer beside it
  kSingleCopy,  // once, between the callers' buffers
  kMessage,     // where ranks do not reach each other's memory
};

class Routes {
 public:
  static Routes of(Op& op, const Call& call) {
    return Routes(most_in_buffer(op, call), ShmComm::of(op)->single_copy == ShmComm::SingleCopy::kProved);
  }
  /// The largest block that lies in a bounce buffer. In a scatter the root alone copies those, one by one.
  static MPI_Count most_in_buffer(const Op& op, const Call& call);
  static bool fits_line(MPI_Count bytes) { return bytes <= static_cast<MPI_Count>(sizeof(BlockLine::data)); }

  Route operator()(MPI_Count bytes) const {
    if (fits_line(bytes)) return Route::kLine;
    if (bytes <= most_in_buffer_) return Route::kBuffer;
    return copies_ ? Route::kSingleCopy : Route::kMessage;
  }
  bool copies() const { return copies_; }
  /// Rank r's block, where it lies in the segment (kLine, kBuffer).
  static std::byte* in_segment(const Ticket& ticket, std::uint32_t r, MPI_Count bytes) {
    return fits_line(bytes) ? BlockLine::of(ticket, r).data : ticket.buffer(r);
  }

 private:
  Routes(MPI_Count most_in_buffer, bool copies) : most_in_buffer_(most_in_buffer), copies_(copies) {}

  MPI_Count most_in_buffer_;
  bool copies_;
};

/// One number; whether this rank writes a bounce buffer, or lines alone.
Need blocks_need(const Call& call, bool writes_buffer);

}  // namespace ashlar::coll::shm
