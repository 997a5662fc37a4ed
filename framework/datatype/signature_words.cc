#include "framework/datatype/signature_words.h"

#include <algorithm>
#include <utility>

#include "framework/datatype/api.h"
#include "framework/datatype/guarded.h"
#include "framework/datatype/type_parts.h"
#include "framework/datatype/words.h"

namespace ashlar::datatype {
namespace {

Signature of(MPI_Datatype handle) {
  return Signature::of(static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(handle)));
}

// The signature of the first `elements` elements of `items` items.
Signature beginning(const Datatype& type, MPI_Count items, MPI_Count elements) {
  const Signature& one = type.signature();
  if (one.elements == 0 || elements <= 0) return {};
  const MPI_Count whole = std::min(items, elements / one.elements);
  Signature result = one.repeated(whole);
  const MPI_Count left = elements - result.elements;
  if (whole == items || left == 0) return result;
  Signature rest;
  each_part(type, [&](const Datatype& part, MPI_Count n) {
    if (rest.elements < left) rest = rest.then(beginning(part, n, left - rest.elements));
  });
  return result.then(rest);
}

void say(Words& words, const Datatype& type, MPI_Count items) {
  const Signature& signature = type.signature();
  if (words.full()) return;
  const Datatype& basic = first_basic(type);
  if (consists_of(type, basic)) {
    const MPI_Count elements = items * signature.elements;
    if (elements != 1) words.add("%lld x ", static_cast<long long>(elements));
    words.add("%s", basic.described());
    return;
  }
  if (items != 1) words.add("%lld x (", static_cast<long long>(items));
  bool first = true;
  each_part(type, [&](const Datatype& part, MPI_Count n) {
    if (n == 0 || part.size() == 0) return;
    if (!first) words.add(", ");
    first = false;
    say(words, part, n);
  });
  if (items != 1) words.add(")");
}

}  // namespace

Signature signature_of(const DataView& data) { return data.type->signature().repeated(data.count); }

bool is_packed(std::uint64_t hash, MPI_Count elements) { return of(MPI_PACKED).repeated(elements).hash == hash; }

bool accepts(const DataView& data, std::uint64_t hash, MPI_Count elements, MPI_Count bytes) {
  if (elements == 0) return true;
  const Signature all = signature_of(data);
  if (elements > all.elements && bytes > data.bytes()) return true;  // truncation, which is reported as such
  if (is_packed(all.hash, all.elements)) return true;
  if (is_packed(hash, elements)) return !breaks_element(*data.type, bytes);
  const Signature wanted = beginning(*data.type, data.count, elements);
  return wanted.elements == elements && wanted.hash == hash;
}

Status packed_form(Datatype& type, Ref<Datatype>* out) {
  return guarded([&] {
    Contents c;
    c.combiner = MPI_COMBINER_CONTIGUOUS;
    c.add(Contents::What::kCount, 1);
    c.types.push_back(Ref<Datatype>::share(type));
    Bounds bounds;
    bounds.has_data = type.size() > 0;
    bounds.data_ub = type.size();
    Datatype* made = nullptr;
    ASHLAR_TRY(Builder::make(std::move(c), bounds, type.size(), type.signature(), &made));
    *out = Ref<Datatype>::adopt(made);
    Builder::make_packed_form(*made);
    return Status{};
  });
}

void describe_signature(const DataView& data, char* out, std::size_t room) {
  Words words(out, room);
  if (data.bytes() == 0) {
    words.add("nothing");
  } else {
    say(words, *data.type, data.count);
  }
}

}  // namespace ashlar::datatype
