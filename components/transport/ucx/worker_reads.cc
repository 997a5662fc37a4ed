#include <algorithm>
#include <cstring>
#include <new>

#include "components/transport/common/endpoint.h"
#include "components/transport/ucx/worker.h"
#include "framework/base/shared_file.h"

// Memory that peers may read, and reading theirs: by the card, or by asking the owner for it.
namespace ashlar::ucx {

/// The words in front of the memory that a peer has asked for.
struct Answer {
  std::uint64_t cookie;
  std::uint64_t at;  // of the data in what is read; kRefused: the memory is not exposed
};

namespace {

using network::Transfer;

struct Ask {
  std::uint64_t cookie;   // of the reader
  std::uint64_t address;  // in the owner's memory
  std::uint64_t length;
  std::uint32_t region, reserved;
  RegionSecret secret;
};
constexpr std::uint64_t kRefused = ~std::uint64_t{0};

// Bytes of memory in one answer: with the words, one write of UCX's tcp (Worker::start).
constexpr std::uint64_t kPiece = 240 << 10;

/// What goes in front of an active message, of which one is used; UCX reads it until the message has left.
struct Words {
  const Library* library;
  Ask ask = {};
  Answer answer = {};
};

}  // namespace

bool Worker::enlist(const void* memory, std::size_t bytes, unsigned uses, network::Registration* out) {
  if ((uses & kRead) == 0) return true;
  auto made = std::make_unique<Region>();
  Region& region = *made;
  region.memory = static_cast<const std::byte*>(memory);
  region.bytes = bytes;
  region.packed.region = ++last_region_;
  if (asks_) {
    const std::uint64_t drawn[] = {random_nonce(), random_nonce()};
    std::memcpy(region.secret.data(), drawn, sizeof drawn);
    region.packed.length = static_cast<std::uint8_t>(region.secret.size());
    std::memcpy(region.packed.bytes, region.secret.data(), region.secret.size());
  } else if (!pack(memory, bytes, &region.known, &region.packed)) {
    return false;
  }
  regions_[last_region_] = std::move(made);
  *out = {.region = &region, .description = nullptr};
  return true;
}

/// UCX's key of memory.
bool Worker::pack(const void* memory, std::size_t bytes, ucp_mem_h* known, PackedKey* out) {
  ucp_mem_map_params_t map = {};
  map.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH;
  map.address = const_cast<void*>(memory);
  map.length = bytes;
  if (const ucs_status_t status = library_->mem_map(context_, &map, known); status != UCS_OK) {
    reason_ = library_->status_string(status);
    return false;
  }
  void* key = nullptr;
  std::size_t length = 0;
  const ucs_status_t status = library_->rkey_pack(context_, *known, &key, &length);
  const bool fits = status == UCS_OK && length <= sizeof out->bytes;
  if (fits) {
    out->length = static_cast<std::uint8_t>(length);
    std::memcpy(out->bytes, key, length);
  } else {
    reason_ = status != UCS_OK ? library_->status_string(status)
                               : "its key has " + std::to_string(length) + " bytes, as several devices are used; " +
                                     std::to_string(sizeof out->bytes) + " can be sent";
    (void)library_->mem_unmap(context_, *known);
  }
  if (status == UCS_OK) library_->rkey_buffer_release(key);
  return fits;
}

void Worker::delist(network::Registration& registration) {
  const auto* const region = static_cast<const Region*>(registration.region);
  registration = {};
  if (region == nullptr) return;
  if (region->known != nullptr) (void)library_->mem_unmap(context_, region->known);
  regions_.erase(region->packed.region);
}

network::RemoteKey Worker::key_of(const network::Registration& registration, const void* memory) const {
  network::RemoteKey named = {};
  named.base = reinterpret_cast<std::uintptr_t>(memory);
  std::memcpy(named.bytes, &static_cast<const Region*>(registration.region)->packed, sizeof(PackedKey));
  return named;
}

Worker::Posted Worker::post(Transfer& transfer, network::Path to) {
  Peer& peer = *peers_[to];
  if (!ready(peer)) return Posted::kLater;
  if (asks_) return ask(peer, transfer);
  PackedKey packed;
  std::memcpy(&packed, transfer.there.bytes, sizeof packed);
  UnderWay& state = under_way(transfer);
  if (const ucs_status_t status = library_->ep_rkey_unpack(peer.endpoint, packed.bytes, &state.key); status != UCS_OK) {
    reason_ = library_->status_string(status);
    return Posted::kFailed;
  }
  state.worker = this;
  state.peer = &peer;
  keyed_.insert(&state);
  const bool puts = transfer.what == network::Operation::What::kPut;
  const std::uint64_t there = transfer.there.base + transfer.offset;
  const ucp_request_param_t parameters = request_of(puts ? was_put : was_read, &transfer);
  const ucs_status_ptr_t left =
      puts ? library_->put_nbx(peer.endpoint, transfer.here, transfer.length, there, state.key, &parameters)
           : library_->get_nbx(peer.endpoint, transfer.here, transfer.length, there, state.key, &parameters);
  if (UCS_PTR_IS_ERR(left)) {
    drop(transfer);
    give_up(peer, UCS_PTR_STATUS(left));
    return Posted::kLater;
  }
  if (left == nullptr && puts) {
    posting_ = true;
    has_left(peer, transfer);
    posting_ = false;
  } else if (left == nullptr) {
    kept_.transfers.emplace_back(&transfer, UCS_OK);
  }
  return Posted::kYes;
}

void Worker::drop(Transfer& transfer) {
  UnderWay& state = under_way(transfer);
  if (state.worker == nullptr) return;
  if (asks_) {
    asked_.erase(state.cookie);
  } else {
    keyed_.erase(&state);
    library_->rkey_destroy(state.key);
  }
  state.worker = nullptr;
}

/// Of a read that was asked for, what arrives later finds no place. UCX's own transfers are ended by UCX.
bool Worker::abandon(Transfer& transfer) { return asks_ && asked_.erase(under_way(transfer).cookie) != 0; }

void Worker::was_read(void* request, ucs_status_t status, void* of) {
  Transfer& read = *static_cast<Transfer*>(of);
  auto& worker = *under_way(read).worker;
  worker.library_->request_free(request);
  worker.end(read, status);
}

/// Told by look(); elsewhere it waits for that, and so it does while its own post() has not returned.
void Worker::end(Transfer& transfer, ucs_status_t status) {
  ++handled_;
  if (!looking_ || posting_)
    kept_.transfers.emplace_back(&transfer, status);
  else if (status == UCS_OK)
    events_->transferred(transfer);
  else
    events_->not_transferred(transfer, library_->status_string(status));
}

Worker::Posted Worker::ask(Peer& peer, Transfer& read) {
  auto* const words = new (std::nothrow) Words{.library = library_};
  if (words == nullptr) return Posted::kLater;
  PackedKey packed;
  std::memcpy(&packed, read.there.bytes, sizeof packed);
  words->ask = {.cookie = ++last_cookie_,
                .address = read.there.base + read.offset,
                .length = read.length,
                .region = packed.region,
                .reserved = 0,
                .secret = {}};
  std::memcpy(words->ask.secret.data(), packed.bytes, words->ask.secret.size());
  ucp_request_param_t parameters = request_of(words_left, words);
  parameters.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
  parameters.flags = UCP_AM_SEND_FLAG_EAGER | UCP_AM_SEND_FLAG_REPLY;
  const ucs_status_ptr_t left =
      library_->am_send_nbx(peer.endpoint, kAskId, &words->ask, sizeof words->ask, nullptr, 0, &parameters);
  if (UCS_PTR_IS_ERR(left) || left == nullptr) delete words;
  if (UCS_PTR_IS_ERR(left)) {
    give_up(peer, UCS_PTR_STATUS(left));
    return Posted::kLater;
  }
  under_way(read).worker = this;
  under_way(read).cookie = last_cookie_;
  asked_[last_cookie_] = {.read = &read, .peer = &peer};
  return Posted::kYes;
}

void Worker::words_left(void* request, ucs_status_t, void* of) {
  auto* const words = static_cast<Words*>(of);
  words->library->request_free(request);
  delete words;
}

/// A peer wants to read. Whatever becomes of the answer, the peer knows: UCX tells both sides of a connection that
/// ends.
ucs_status_t Worker::asked(void* self, const void* header, std::size_t header_length, void*, std::size_t,
                           const ucp_am_recv_param_t* parameters) {
  auto& worker = *static_cast<Worker*>(self);
  if (header_length != sizeof(Ask) || (parameters->recv_attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP) == 0) {
    worker.events_->damaged();
    return UCS_OK;
  }
  Ask ask;
  std::memcpy(&ask, header, sizeof ask);
  const auto known = worker.regions_.find(ask.region);
  bool allowed = known != worker.regions_.end() && known->second->secret == ask.secret;
  if (allowed) {
    const std::uint64_t first = reinterpret_cast<std::uintptr_t>(known->second->memory);
    allowed = ask.address >= first && ask.address - first <= known->second->bytes &&
              ask.length <= known->second->bytes - (ask.address - first);
  }
  if (!allowed) worker.events_->damaged();
  const auto* const memory = reinterpret_cast<const std::byte*>(ask.address);
  std::uint64_t at = 0;
  do {
    const std::uint64_t length = allowed ? std::min(ask.length - at, kPiece) : 0;
    if (!worker.answer(parameters->reply_ep, {.cookie = ask.cookie, .at = allowed ? at : kRefused}, memory + at,
                       length))
      break;
    at += length;
  } while (allowed && at < ask.length);
  return UCS_OK;
}

bool Worker::answer(ucp_ep_h to, const Answer& answer, const std::byte* memory, std::size_t length) {
  auto* const words = new (std::nothrow) Words{.library = library_};
  if (words == nullptr) return false;
  words->answer = answer;
  ucp_request_param_t parameters = request_of(words_left, words);
  parameters.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
  parameters.flags = UCP_AM_SEND_FLAG_EAGER;
  const ucs_status_ptr_t left =
      library_->am_send_nbx(to, kAnswerId, &words->answer, sizeof words->answer, memory, length, &parameters);
  if (UCS_PTR_IS_ERR(left) || left == nullptr) delete words;
  return !UCS_PTR_IS_ERR(left);
}

ucs_status_t Worker::answered(void* self, const void* header, std::size_t header_length, void* data, std::size_t length,
                              const ucp_am_recv_param_t* parameters) {
  auto& worker = *static_cast<Worker*>(self);
  Answer answer = {};
  if (header_length == sizeof answer) std::memcpy(&answer, header, sizeof answer);
  const auto known = worker.asked_.find(answer.cookie);
  if (known == worker.asked_.end() || (parameters->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0) {
    worker.events_->damaged();
    return UCS_OK;
  }
  Asked& asked = known->second;
  Transfer& read = *asked.read;
  const bool fits = answer.at == asked.got && length <= read.length - asked.got;
  if (fits) {
    std::memcpy(static_cast<std::byte*>(read.here) + answer.at, data, length);
    asked.got += length;
    if (asked.got < read.length) return UCS_OK;
  }
  worker.asked_.erase(known);
  worker.end(read, fits ? UCS_OK : UCS_ERR_INVALID_ADDR);
  return UCS_OK;
}

/// Those whose answer will not come.
void Worker::end_reads(const Peer* peer, ucs_status_t status) {
  std::vector<Transfer*> reads;
  for (const auto& [cookie, asked] : asked_)
    if (asked.peer == peer) reads.push_back(asked.read);
  for (Transfer* const read : reads) {
    asked_.erase(under_way(*read).cookie);
    end(*read, status);
  }
}

}  // namespace ashlar::ucx
