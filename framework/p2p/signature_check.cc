#include "framework/p2p/signature_check.h"

#include <algorithm>
#include <cstring>

#include "framework/base/failure.h"
#include "framework/datatype/signature_words.h"
#include "framework/p2p/lane_state.h"
#include "framework/p2p/receiving.h"

namespace ashlar::p2p {
namespace {

std::size_t fill_words(void* argument, void* to, std::size_t room) {
  std::memcpy(to, argument, room);
  return room;
}

bool of_collective(const ashlar_am& am) { return (key_of(am).context() & 1) != 0; }

}  // namespace

ashlar_result SignatureCheck::send_ahead(const DataView& data, ashlar_endpoint* endpoint) {
  const datatype::Signature signature = datatype::signature_of(data);
  char words[SentSignature::kWords];
  datatype::describe_signature(data, words, sizeof words);
  const auto length = static_cast<std::uint32_t>(std::strlen(words) + 1);
  const auto elements = static_cast<std::uint64_t>(signature.elements);
  if (length <= endpoint->max_short)
    return endpoint->ops->am_short(endpoint, kSignature, signature.hash, elements, words, length);
  return endpoint->ops->am_bcopy(endpoint, kSignature, signature.hash, elements, fill_words, words, length);
}

void SignatureCheck::arrived(const ashlar_am& am) {
  SentSignature& sent = next_[am.peer];
  sent.hash = am.h0;
  sent.elements = static_cast<MPI_Count>(am.h1);
  std::memcpy(sent.words, am.data, std::min<std::size_t>(am.length, sizeof sent.words));
  sent.words[sizeof sent.words - 1] = '\0';
}

void SignatureCheck::keep(const ashlar_am& kept) {
  if (of_collective(kept)) return;
  if (auto sent = next_.extract(kept.peer)) kept_[&kept] = sent.mapped();
}

Status SignatureCheck::examine(const RecvRequest& r, const ashlar_am& am) {
  if (of_collective(am)) return {};
  SentSignature sent;
  if (auto kept = kept_.extract(&am)) {
    sent = kept.mapped();
  } else if (auto next = next_.extract(am.peer)) {
    sent = next.mapped();
  } else {
    return {};
  }
  if ((r.comm->enforced & Comm::kExactLength) != 0 && message_bytes(am) < r.size)
    return fail(MPI_ERR_OTHER, "message.exact_length",
                {{"call", name_of(r.call)},
                 {"bytes_wanted", r.size},
                 {"peer", r.source},
                 {"tag", r.tag},
                 {"communicator", r.comm->name},
                 {"bytes_got", message_bytes(am)}});
  return compare(r, name_of(r.call), sent, message_bytes(am));
}

std::unique_ptr<SentSignature> SignatureCheck::take(PeerId peer) {
  auto next = next_.extract(peer);
  return next ? std::make_unique<SentSignature>(next.mapped()) : nullptr;
}

Status SignatureCheck::compare(const Operation& r, const char* call, const SentSignature& sent, MPI_Count bytes) {
  if (datatype::accepts(r.data, sent.hash, sent.elements, bytes)) return {};
  char wanted[SentSignature::kWords];
  datatype::describe_signature(r.data, wanted, sizeof wanted);
  return fail(MPI_ERR_TYPE, "message.datatypes",
              {{"peer", r.source},
               {"sent", sent.words},
               {"tag", r.tag},
               {"communicator", r.comm->name},
               {"call", call},
               {"received", wanted}});
}

// The configuration does not change while there is traffic.
Status stand_in(const Comm& comm, void* bytes, const DataView& data, Ref<Datatype>* keep,
                DataView* out) ASHLAR_NO_THREAD_SAFETY {
  *out = {bytes, data.bytes(), &datatype::predefined(MPI_PACKED)};
  if (!comm.lane->p2p->check) [[likely]]
    return {};
  ASHLAR_TRY(datatype::packed_form(*data.type, keep));
  *out = {bytes, data.count, keep->get()};
  return {};
}

}  // namespace ashlar::p2p
