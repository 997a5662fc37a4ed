// MPI_Pack_external, MPI_Unpack_external and MPI_Pack_external_size. LayoutLoops packs into a buffer of this machine's
// form, a piece at a time; the numbers of the piece are converted from there.
#include <algorithm>
#include <cstring>
#include <optional>

#include "framework/base/failure.h"
#include "framework/datatype/api.h"
#include "framework/datatype/data_view.h"
#include "framework/datatype/external_number.h"
#include "framework/datatype/external_part.h"
#include "framework/datatype/measures.h"
#include "framework/datatype/packed_room.h"
#include "framework/datatype/type_parts.h"

namespace ashlar::datatype {
namespace {

constexpr std::size_t kPiece = 8192;

Status check_datarep(const char* datarep) {
  if (std::strcmp(datarep, "external32") == 0) return {};
  return fail(MPI_ERR_UNSUPPORTED_DATAREP, "argument.text",
              {{"argument", "datarep"}, {"value", datarep}, {"wanted", "'external32'"}});
}

// The external size of one item.
MPI_Count external_bytes(const Datatype& type) {
  MPI_Count bytes = 0;
  if (type.size() == 0) return 0;
  if (const Datatype& basic = first_basic(type); consists_of(type, basic)) {
    const ExternalForm form = external_form(basic);
    return static_cast<MPI_Count>(form.external * form.numbers) * type.signature().elements;
  }
  each_part(type, [&](const Datatype& part, MPI_Count n) { bytes += n * external_bytes(part); });
  return bytes;
}

Status external_size(MPI_Count count, const Datatype& type, MPI_Count* bytes) {
  ASHLAR_TRY(check_count(count, "incount"));
  if (__builtin_mul_overflow(count, external_bytes(type), bytes))
    return fail(MPI_ERR_COUNT, "type.too_many_bytes", {{"count", count}, {"type", type.described()}});
  return {};
}

/// A window on the packed stream of `view`. For kRead the window is filled ahead; otherwise it is emptied behind.
template <bool kRead>
class Window {
 public:
  /// From packed byte `at` on.
  Window(const DataView& view, MPI_Count at) : view_(view), at_(static_cast<std::size_t>(at)) {}
  ~Window() {
    if constexpr (!kRead) unpack(view_, at_, buffer_, used_);
  }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  /// Returns bytes for up to `n` numbers of `size` bytes, and their number in *now.
  char* next(std::size_t size, std::size_t n, std::size_t* now) {
    if constexpr (kRead) {
      if (left() < size) refill();
      *now = std::min(n, left() / size);
      char* const here = buffer_ + begin_;
      begin_ += *now * size;
      return here;
    } else {
      if (kPiece - used_ < size) {
        unpack(view_, at_, buffer_, used_);
        at_ += used_;
        used_ = 0;
      }
      *now = std::min(n, (kPiece - used_) / size);
      char* const here = buffer_ + used_;
      used_ += *now * size;
      return here;
    }
  }

 private:
  std::size_t left() const { return used_ - begin_; }
  void refill() {
    const std::size_t kept = left();
    std::memmove(buffer_, buffer_ + begin_, kept);
    used_ = kept + pack(view_, at_, buffer_ + kept, kPiece - kept);
    at_ += used_ - kept;
    begin_ = 0;
  }

  DataView view_;
  std::size_t at_;  // packed offset behind the window (kRead), before it (else)
  std::size_t begin_ = 0, used_ = 0;
  char buffer_[kPiece];
};

/// Converts whole elements from `first` on, as many as `room` bytes of the external form hold.
template <bool kPack, class External>
ExternalPart convert(const DataView& view, MPI_Count first, External external, MPI_Count room) {
  ExternalPart part;
  MPI_Count skip = first, packed = 0;
  std::optional<Window<kPack>> window;
  auto run = [&](const Datatype& basic, MPI_Count elements) {
    if (!window) window.emplace(view, packed);
    const ExternalForm form = external_form(basic);
    const auto each = static_cast<MPI_Count>(form.external * form.numbers);
    const MPI_Count fit = std::min(elements, (room - part.external) / each);
    std::size_t now = 0;
    for (std::size_t n = static_cast<std::size_t>(fit) * form.numbers; n > 0; n -= now) {
      char* const native = window->next(form.native, n, &now);
      if constexpr (kPack) {
        to_external(form, native, external, now);
      } else {
        from_external(form, external, native, now);
      }
      external += now * form.external;
    }
    part.elements += fit;
    part.packed += fit * basic.size();
    part.external += fit * each;
    return fit == elements;
  };
  each_run_from(*view.type, view.count, &skip, &packed, run);
  return part;
}

}  // namespace

ExternalPart pack_external_part(const DataView& view, MPI_Count first, void* to, MPI_Count room) {
  return convert<true>(view, first, static_cast<char*>(to), room);
}

ExternalPart unpack_external_part(const DataView& view, MPI_Count first, const void* from, MPI_Count bytes) {
  return convert<false>(view, first, static_cast<const char*>(from), bytes);
}

Status pack_external(const char* datarep, const void* inbuf, MPI_Count incount, Datatype& type, void* outbuf,
                     MPI_Count outsize, MPI_Count* position) {
  ASHLAR_TRY(check_datarep(datarep));
  ASHLAR_TRY(check_committed(type));
  MPI_Count bytes = 0;
  ASHLAR_TRY(external_size(incount, type, &bytes));
  ASHLAR_TRY(check_packed_room("output buffer", outsize, *position, bytes));
  convert<true>(DataView::of(inbuf, incount, type), 0, static_cast<char*>(outbuf) + *position, bytes);
  *position += bytes;
  return {};
}

Status unpack_external(const char* datarep, const void* inbuf, MPI_Count insize, MPI_Count* position, void* outbuf,
                       MPI_Count outcount, Datatype& type) {
  ASHLAR_TRY(check_datarep(datarep));
  ASHLAR_TRY(check_committed(type));
  MPI_Count bytes = 0;
  ASHLAR_TRY(external_size(outcount, type, &bytes));
  ASHLAR_TRY(check_packed_room("input buffer", insize, *position, bytes));
  convert<false>(DataView{outbuf, outcount, &type}, 0, static_cast<const char*>(inbuf) + *position, bytes);
  *position += bytes;
  return {};
}

Status pack_external_size(const char* datarep, MPI_Count incount, Datatype& type, MPI_Count* size) {
  ASHLAR_TRY(check_datarep(datarep));
  return external_size(incount, type, size);
}

}  // namespace ashlar::datatype
