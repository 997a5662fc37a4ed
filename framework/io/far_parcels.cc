// What processes that share no memory send to the aggregators of a collective access, and get from them.
#include <mpi.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "framework/io/far.h"
#include "framework/io/plan.h"

namespace ashlar::io {
namespace {

constexpr std::size_t kHead = sizeof(Parcel::Head);

}  // namespace

std::size_t message_room(const Plan& plan) { return plan.window + kHead + 256 * sizeof(Row); }

bool Far::make_room(const Plan& plan, bool aggregates, bool writes) {
  try {
    parcels.resize(plan.aggregators);
    if (!aggregates) return true;
    window_bytes_.resize(plan.window);
    mask_.assign(writes ? mask_bytes(plan.window) / sizeof(Mask) : 0, 0);
    got.resize(message_room(plan));
  } catch (const std::bad_alloc&) {
    return false;
  }
  window = {.begin = 0, .bytes = plan.window, .data = window_bytes_.data(), .mask = mask_.data()};
  return true;
}

std::size_t Far::rest_of_message(bool writes) const {
  const std::size_t room = got.size() - kHead;
  const std::size_t rows = std::min<std::size_t>(head().rows, room / sizeof(Row)) * sizeof(Row);
  return rows + (writes ? std::min<std::size_t>(head().packed, room - rows) : 0);
}

bool Far::good_message(bool with_data) const {
  const std::size_t room = got.size() - kHead;
  if (head().rows > room / sizeof(Row)) return false;
  if ((with_data ? head().packed : 0) > room - head().rows * sizeof(Row)) return false;
  return good_rows(rows(), head().rows, window.bytes, head().packed);
}

bool Far::put_message() {
  if (!good_message(true)) return false;
  put_rows(rows(), head().rows, reinterpret_cast<const std::byte*>(rows() + head().rows), window.data, window.mask);
  return true;
}

int Far::answer_message() {
  if (!good_message(false) || head().packed > got.size()) return MPI_ERR_OTHER;
  try {
    answers.emplace_back(sizeof(std::uint64_t) + head().packed);
  } catch (const std::bad_alloc&) {
    return MPI_ERR_NO_MEM;
  }
  std::byte* const answer = answers.back().data();
  const std::uint64_t there = get_rows(rows(), head().rows, window.data, valid, answer + sizeof there);
  std::memcpy(answer, &there, sizeof there);
  answered += answers.back().size();
  return MPI_SUCCESS;
}

void Far::drop_answers() {
  answers.clear();
  answered = 0;
}

// The rows of a message are as many as fit with their data; a row's data fits into an empty one.
bool Far::pack(const Stream& stream, std::uint64_t begin, std::uint64_t first, std::uint64_t last, bool writes,
               std::size_t most, Parcel* out) {
  *out = {};
  try {
    rows_.clear();
    list_rows(*stream.tiles, first, last, begin, &rows_);
    out->bytes.resize((last - first) * (writes ? 1 : 0) + rows_.size() * (sizeof(Row) + kHead + alignof(Row)));
    std::size_t at = 0, answer = 0;
    for (std::size_t row = 0; row < rows_.size();) {
      std::size_t used = kHead;
      Parcel::Head head;
      while (row + head.rows < rows_.size()) {
        const Row& next = rows_[row + head.rows];
        const std::uint64_t packed = std::uint64_t{next.bytes} * next.count;
        if (head.rows > 0 && (used + sizeof(Row) + packed > most)) break;
        used += sizeof(Row) + packed;
        head.packed += packed;
        ++head.rows;
      }
      head.last = row + head.rows == rows_.size() ? 1 : 0;
      std::byte* const message = out->bytes.data() + at;
      std::memcpy(message, &head, kHead);
      std::memcpy(message + kHead, &rows_[row], head.rows * sizeof(Row));
      const std::size_t bytes = kHead + head.rows * sizeof(Row) + (writes ? head.packed : 0);
      if (writes)
        datatype::pack(stream.buffer, first - stream.from, message + kHead + head.rows * sizeof(Row), head.packed);
      out->messages.push_back({.at = at, .bytes = bytes, .first = first, .packed = head.packed, .answer = answer});
      at += (bytes + alignof(Row) - 1) / alignof(Row) * alignof(Row);
      answer += sizeof(std::uint64_t) + head.packed;
      first += head.packed;
      row += head.rows;
    }
    if (!writes) out->answers.resize(answer);
    return true;
  } catch (const std::bad_alloc&) {
    *out = {};
  }
  return false;
}

}  // namespace ashlar::io
