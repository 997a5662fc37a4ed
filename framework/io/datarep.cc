#include "framework/io/datarep.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/base/failure.h"
#include "framework/datatype/api.h"
#include "framework/datatype/contents.h"
#include "framework/datatype/external_number.h"
#include "framework/datatype/external_part.h"
#include "framework/datatype/guarded.h"
#include "framework/datatype/type_parts.h"
#include "framework/object/handle.h"

namespace ashlar::io {
namespace {

using datatype::Builder;
using datatype::Contents;

const Datarep* find_in(const std::deque<Datarep>& all, std::string_view name) {
  for (const Datarep& rep : all)
    if (rep.name == name) return &rep;
  return nullptr;
}

/// Bytes in a file of one element of a basic datatype.
Status basic_bytes(const Datarep& rep, const Datatype& basic, MPI_Count* bytes) {
  if (rep.kind != Datarep::Kind::kUser) {
    const datatype::ExternalForm form = datatype::external_form(basic);
    *bytes = static_cast<MPI_Count>(rep.native() ? form.native * form.numbers : form.external * form.numbers);
    return {};
  }
  MPI_Aint extent = 0;
  const MPI_Datatype handle = to_handle<MPI_Datatype>(const_cast<Datatype*>(&basic));
  if (const int code = rep.extent(handle, &extent, rep.state); code != MPI_SUCCESS)
    return fail(MPI_ERR_CONVERSION, "io.callback",
                {{"datarep", rep.name}, {"callback", "extent function"}, {"code", code}});
  *bytes = extent;
  return {};
}

Status commit(Datatype* made, Ref<Datatype>* out) {
  const Status done = datatype::commit(&made);
  *out = Ref<Datatype>::adopt(made);
  return done;
}

Status same_size(const Datarep& rep, const Datatype& type, bool* same) {
  if (type.is_predefined()) {
    const datatype::PairParts pair = datatype::parts_of(type);
    if (pair.value != nullptr) {
      *same = false;
      return {};
    }
    MPI_Count bytes = 0;
    ASHLAR_TRY(basic_bytes(rep, type, &bytes));
    *same = bytes == type.size();
    return {};
  }
  Status first;
  *same = true;
  datatype::each_part(type, [&](const Datatype& part, MPI_Count) {
    bool of_part = true;
    if (*same && first.ok()) first = same_size(rep, part, &of_part);
    *same = *same && of_part;
  });
  return first;
}

/// A predefined datatype: a run of the bytes that its elements have in a file.
Status basic_form(const Datarep& rep, const Datatype& type, Ref<Datatype>* out) {
  MPI_Count bytes = 0;
  ASHLAR_TRY(file_bytes(rep, type, 1, &bytes));
  Datatype* made = nullptr;
  ASHLAR_TRY(datatype::contiguous_c(bytes, datatype::predefined(MPI_BYTE), &made));
  return commit(made, out);
}

/// Numbers of a constructor's arguments, one after the other.
class Arguments {
 public:
  explicit Arguments(const Contents& of) : numbers_(of.numbers.data()) {}
  MPI_Count one() { return *numbers_++; }
  IntArray many(MPI_Count n) { return IntArray(std::exchange(numbers_, numbers_ + n)); }
  std::vector<int> ints(MPI_Count n) {
    std::vector<int> out;
    for (MPI_Count i = 0; i < n; ++i) out.push_back(static_cast<int>(*numbers_++));
    return out;
  }

 private:
  const MPI_Count* numbers_;
};

Status array_form(const Contents& of, Datatype& part, Datatype** made) {
  Arguments args(of);
  if (of.combiner == MPI_COMBINER_SUBARRAY) {
    const auto n = static_cast<int>(args.one());
    const IntArray sizes = args.many(n), subsizes = args.many(n), starts = args.many(n);
    return datatype::create_subarray(n, sizes, subsizes, starts, static_cast<int>(args.one()), part, made);
  }
  const auto size = static_cast<int>(args.one()), rank = static_cast<int>(args.one()), n = static_cast<int>(args.one());
  const IntArray sizes = args.many(n);
  const std::vector<int> distribs = args.ints(n), dargs = args.ints(n), grid = args.ints(n);
  return datatype::create_darray(size, rank, n, sizes, distribs.data(), dargs.data(), grid.data(),
                                 static_cast<int>(args.one()), part, made);
}

/// The same constructor over parts that have their sizes in a file.
Status construct(const Contents& of, const std::vector<Ref<Datatype>>& parts, Datatype** made) {
  Arguments args(of);
  Datatype& part = *parts[0];
  switch (of.combiner) {
    case MPI_COMBINER_DUP:
      return datatype::contiguous_c(1, part, made);
    case MPI_COMBINER_CONTIGUOUS:
      return datatype::contiguous_c(args.one(), part, made);
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR: {
      const MPI_Count count = args.one(), length = args.one(), stride = args.one();
      return of.combiner == MPI_COMBINER_VECTOR ? datatype::vector_c(count, length, stride, part, made)
                                                : datatype::create_hvector_c(count, length, stride, part, made);
    }
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_HINDEXED: {
      const MPI_Count count = args.one();
      const IntArray lengths = args.many(count), displacements = args.many(count);
      return of.combiner == MPI_COMBINER_INDEXED ? datatype::indexed(count, lengths, displacements, part, made)
                                                 : datatype::create_hindexed(count, lengths, displacements, part, made);
    }
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_HINDEXED_BLOCK: {
      const MPI_Count count = args.one(), length = args.one();
      const IntArray displacements = args.many(count);
      return of.combiner == MPI_COMBINER_INDEXED_BLOCK
                 ? datatype::create_indexed_block(count, length, displacements, part, made)
                 : datatype::create_hindexed_block_c(count, length, displacements, part, made);
    }
    case MPI_COMBINER_STRUCT: {
      const MPI_Count count = args.one();
      const IntArray lengths = args.many(count), displacements = args.many(count);
      std::vector<MPI_Datatype> types;
      for (const Ref<Datatype>& one : parts) types.push_back(to_handle<MPI_Datatype>(one.get()));
      return datatype::create_struct(count, lengths, displacements, types.data(), made);
    }
    case MPI_COMBINER_RESIZED: {
      const MPI_Count lb = args.one(), extent = args.one();
      return datatype::create_resized_c(part, lb, extent, made);
    }
    default:
      return array_form(of, part, made);
  }
}

Status derived_form(const Datarep& rep, Datatype& type, Ref<Datatype>* out) {
  const Contents& of = *Builder::contents(type);
  std::vector<Ref<Datatype>> parts(of.types.size());
  for (std::size_t i = 0; i < parts.size(); ++i) ASHLAR_TRY(file_form(rep, *of.types[i], &parts[i]));
  if (parts.empty()) {  // a struct of nothing
    *out = Ref<Datatype>::share(type);
    return {};
  }
  Datatype* made = nullptr;
  ASHLAR_TRY(construct(of, parts, &made));
  return commit(made, out);
}

Status bad_callback(const Datarep& rep, const char* callback, int code) {
  return fail(MPI_ERR_CONVERSION, "io.callback", {{"datarep", rep.name}, {"callback", callback}, {"code", code}});
}

/// How many elements from `first` on have their file form in `room` bytes, and no more than a call may be told of.
Status measure(const Datarep& rep, bool large, const DataView& buffer, MPI_Count first, MPI_Count room,
               Converted* out) {
  *out = {};
  Status failed;
  MPI_Count skip = first, packed = 0;
  const MPI_Count most = large ? std::numeric_limits<MPI_Count>::max() : std::numeric_limits<int>::max();
  auto run = [&](const Datatype& basic, MPI_Count elements) {
    MPI_Count each = 0;
    failed = basic_bytes(rep, basic, &each);
    if (!failed.ok()) return false;
    MPI_Count fit = std::min(elements, most - out->elements);
    if (each > 0) fit = std::min(fit, (room - out->file) / each);
    out->elements += fit;
    out->memory += fit * basic.size();
    out->file += fit * each;
    return fit == elements;
  };
  datatype::each_run_from(*buffer.type, buffer.count, &skip, &packed, run);
  return failed;
}

template <class Small, class Large>
Status call(const Datarep& rep, const char* name, Small* small, Large* large, const DataView& buffer, MPI_Count first,
            MPI_Count elements, void* file) {
  if (elements == 0) return {};
  const MPI_Datatype handle = to_handle<MPI_Datatype>(buffer.type);
  const int code = large != nullptr ? large(buffer.data, handle, elements, file, first, rep.state)
                                    : small(buffer.data, handle, static_cast<int>(elements), file, first, rep.state);
  return code == MPI_SUCCESS ? Status() : bad_callback(rep, name, code);
}

Converted as_converted(const datatype::ExternalPart& part) {
  return {.elements = part.elements, .memory = part.packed, .file = part.external};
}

}  // namespace

Datareps::Datareps() {
  for (const char* name : {"native", "internal", "external32"}) {
    Datarep& rep = all_.emplace_back();
    rep.name = name;
    rep.kind = rep.name == "external32" ? Datarep::Kind::kExternal : Datarep::Kind::kNative;
  }
}

Status Datareps::find(const char* name, const Datarep** out) {
  const std::lock_guard guard(mutex_);
  *out = find_in(all_, name);
  if (*out != nullptr) return {};
  return fail(MPI_ERR_UNSUPPORTED_DATAREP, "io.no_datarep", {{"datarep", name}});
}

Status Datareps::add(Datarep wanted) {
  const std::lock_guard guard(mutex_);
  if (find_in(all_, wanted.name) != nullptr)
    return fail(MPI_ERR_DUP_DATAREP, "io.known_datarep", {{"datarep", wanted.name}});
  all_.push_back(std::move(wanted));
  return {};
}

Status file_form(const Datarep& rep, Datatype& type, Ref<Datatype>* out) {
  bool same = true;
  if (!rep.native()) ASHLAR_TRY(same_size(rep, type, &same));
  if (same) {
    *out = Ref<Datatype>::share(type);
    return {};
  }
  return datatype::guarded(
      [&] { return type.is_predefined() ? basic_form(rep, type, out) : derived_form(rep, type, out); });
}

Status file_bytes(const Datarep& rep, const Datatype& type, MPI_Count count, MPI_Count* bytes) {
  if (rep.native()) {
    *bytes = count * type.size();
    return {};
  }
  Status first;
  MPI_Count sum = 0;
  auto add = [&](const Datatype& basic, MPI_Count elements) {
    MPI_Count one = 0;
    if (first.ok()) first = basic_bytes(rep, basic, &one);
    sum += one * elements;
  };
  datatype::each_run(type, 1, add);
  *bytes = sum * count;
  return first;
}

Status to_file(const Datarep& rep, const DataView& buffer, MPI_Count first, std::byte* file, MPI_Count room,
               Converted* out) {
  if (rep.kind != Datarep::Kind::kUser) {
    *out = as_converted(datatype::pack_external_part(buffer, first, file, room));
    return {};
  }
  ASHLAR_TRY(measure(rep, rep.write_c != nullptr, buffer, first, room, out));
  return call(rep, "write conversion", rep.write, rep.write_c, buffer, first, out->elements, file);
}

Status from_file(const Datarep& rep, const DataView& buffer, MPI_Count first, const std::byte* file, MPI_Count bytes,
                 Converted* out) {
  if (rep.kind != Datarep::Kind::kUser) {
    *out = as_converted(datatype::unpack_external_part(buffer, first, file, bytes));
    return {};
  }
  ASHLAR_TRY(measure(rep, rep.read_c != nullptr, buffer, first, bytes, out));
  return call(rep, "read conversion", rep.read, rep.read_c, buffer, first, out->elements, const_cast<std::byte*>(file));
}

}  // namespace ashlar::io
