#include "framework/io/verify.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "framework/base/failure.h"
#include "framework/io/engine.h"
#include "framework/io/moves.h"

namespace ashlar::io {
namespace {

struct Free {
  void operator()(std::byte* memory) const { std::free(memory); }
};

/// The next bytes that the file has to have, at most `room`. Data that lies in a row stays where it is.
class Written {
 public:
  explicit Written(const Transfer& what) : what_(what) {}
  Status next(std::byte* room_at, std::uint64_t room, const std::byte** bytes, std::uint64_t* count) {
    *bytes = room_at;
    if (what_.file.view.rep->converts(true)) {
      Converted part;
      ASHLAR_TRY(to_file(*what_.file.view.rep, what_.buffer, elements_, room_at, static_cast<MPI_Count>(room), &part));
      elements_ += part.elements;
      *count = static_cast<std::uint64_t>(part.file);
      return {};
    }
    *count = std::min(room, static_cast<std::uint64_t>(what_.buffer.bytes()) - past_);
    if (what_.buffer.dense())
      *bytes = static_cast<const std::byte*>(what_.buffer.data) + past_;
    else
      datatype::pack(what_.buffer, past_, room_at, *count);
    past_ += *count;
    return {};
  }

 private:
  const Transfer& what_;
  MPI_Count elements_ = 0;
  std::uint64_t past_ = 0;
};

Status differs(const OpenFile& file, std::uint64_t at, std::byte wanted, const char* got) {
  datatype::Span span;
  static_cast<void>(file.view.tiles->spans(at, 1, 1, &span));
  return fail(MPI_ERR_IO, "io.verify",
              {{"offset", span.offset}, {"path", file.path}, {"value", static_cast<int>(wanted)}, {"got", got}});
}

}  // namespace

bool can_verify(const OpenFile& file) {
  return file.reads() && file.seekable() && file.coherent() && !file.atomic &&
         !(file.view.rep->kind == Datarep::Kind::kUser && file.view.rep->converts(true));
}

Status verify(const Transfer& what) {
  OpenFile& file = what.file;
  std::uint64_t at = 0, total = 0;
  if (what.buffer.bytes() == 0) return {};
  ASHLAR_TRY(stream_bytes(what, &at, &total));
  const std::uint64_t room = std::min(total, Engine::current().config.get().buffer_bytes);
  const std::unique_ptr<std::byte, Free> memory(static_cast<std::byte*>(std::malloc(2 * room)));
  if (memory == nullptr)
    return fail(MPI_ERR_NO_MEM, "memory.none", {{"what", "the buffer of a file access"}, {"bytes_wanted", 2 * room}});
  std::byte* const found = memory.get() + room;
  Written written(what);
  for (std::uint64_t past = 0; past < total;) {
    const std::byte* wanted = nullptr;
    std::uint64_t count = 0, done = 0;
    ASHLAR_TRY(written.next(memory.get(), room, &wanted, &count));
    if (count == 0) break;
    ASHLAR_TRY(move_bytes(file, false, at + past, found, count, &done));
    const auto* const other = std::mismatch(found, found + done, wanted).first;
    const auto same = static_cast<std::uint64_t>(other - found);
    if (same < done)
      return differs(file, at + past + same, wanted[same], std::to_string(static_cast<int>(*other)).c_str());
    if (done < count) return differs(file, at + past + done, wanted[done], "not there");
    past += count;
  }
  return {};
}

}  // namespace ashlar::io
