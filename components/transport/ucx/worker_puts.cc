#include <cstring>

#include "components/transport/common/endpoint.h"
#include "components/transport/ucx/worker.h"
#include "framework/base/clock.h"

// Memory of peers that is written: by the card, or by UCX in the calls of the process that has it.
namespace ashlar::ucx {
namespace {

using network::Transfer;

constexpr std::uint64_t kConnecting = 5'000'000'000;  // for the first put, which makes the connection
constexpr std::uint64_t kAlone = 20'000'000;          // for one that needs nothing of its target

/// A second worker of a process and its way to the first, to try puts over.
struct Second {
  const Library& library;
  ucp_worker_h worker = nullptr;
  ucp_ep_h endpoint = nullptr;
  ucp_rkey_h key = nullptr;

  ~Second() {
    if (key != nullptr) library.rkey_destroy(key);
    ucp_request_param_t parameters = {};
    parameters.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    parameters.flags = UCP_EP_CLOSE_FLAG_FORCE;
    void* const closing = endpoint == nullptr ? nullptr : library.ep_close_nbx(endpoint, &parameters);
    if (closing != nullptr && !UCS_PTR_IS_ERR(closing)) library.request_free(closing);
    if (worker != nullptr) library.worker_destroy(worker);
  }
};

}  // namespace

void Worker::judge_puts() {
  if (asks_ || config_.puts == kNever) return;
  const bool alone = prove_puts();
  puts_ = alone || config_.puts == kAlways;
  why_ += alone   ? "; puts need nothing of the peer's program"
          : puts_ ? "; puts wait for calls of the peer's program, as transport.ucx.puts allows"
                  : "; one-sided communication does without its puts";
}

/// By puts of a second worker into memory of the first, which does nothing for them. One-sided communication counts on
/// puts that need nothing of the peer's program.
bool Worker::prove_puts() {
  network::Registration known;
  if (!enlist(&trial_.to, sizeof trial_.to, kRead | kPut, &known)) return false;
  const network::RemoteKey named = key_of(known, &trial_.to);
  PackedKey packed;
  std::memcpy(&packed, named.bytes, sizeof packed);
  bool proved = false;
  {
    Second second{.library = *library_};
    const std::vector<std::uint8_t> own = address();
    ucp_ep_params_t to_first = {};
    to_first.field_mask =
        UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
    to_first.address = reinterpret_cast<const ucp_address_t*>(own.data());
    to_first.err_mode = UCP_ERR_HANDLING_MODE_PEER;
    to_first.err_handler = {.cb = [](void*, ucp_ep_h, ucs_status_t) {}, .arg = nullptr};
    const auto try_put = [&](std::uint64_t value, bool first_helps, std::uint64_t limit) {
      trial_.from = value;
      const ucp_request_param_t plain = {};
      void* requests[] = {
          library_->put_nbx(second.endpoint, &trial_.from, sizeof trial_.from, named.base, second.key, &plain),
          nullptr};
      requests[1] = library_->ep_flush_nbx(second.endpoint, &plain);
      bool good = true;
      for (void*& request : requests) {
        const std::uint64_t until = now_ns() + limit;
        const auto status = [&] {
          return UCS_PTR_IS_PTR(request) ? library_->request_check_status(request) : UCS_PTR_STATUS(request);
        };
        while (status() == UCS_INPROGRESS && now_ns() < until) {
          (void)library_->worker_progress(second.worker);
          if (first_helps) (void)library_->worker_progress(worker_);
        }
        good = good && status() == UCS_OK;
        if (UCS_PTR_IS_PTR(request)) library_->request_free(request);
      }
      return good && trial_.to.load(std::memory_order_acquire) == value;
    };
    proved = make_worker(&second.worker) == UCS_OK &&
             library_->ep_create(second.worker, &to_first, &second.endpoint) == UCS_OK &&
             library_->ep_rkey_unpack(second.endpoint, packed.bytes, &second.key) == UCS_OK &&
             try_put(1, true, kConnecting) && try_put(2, false, kAlone);
  }
  delist(known);
  return proved;
}

/// Its memory here is free; whether it has arrived, a flush tells.
void Worker::has_left(Peer& peer, Transfer& put) {
  peer.put.push_back(&put);
  confirm(peer);
}

void Worker::was_put(void* request, ucs_status_t status, void* of) {
  Transfer& put = *static_cast<Transfer*>(of);
  auto& worker = *under_way(put).worker;
  worker.library_->request_free(request);
  if (status != UCS_OK)
    worker.end(put, status);
  else
    worker.has_left(*under_way(put).peer, put);
}

/// Asks for the end of all puts that have left, unless one question is under way: then its end asks for the rest.
void Worker::confirm(Peer& peer) {
  while (!peer.put.empty() && peer.confirming.empty()) {
    if (peer.endpoint == nullptr || peer.failure != UCS_OK) return end_puts(peer.put, UCS_ERR_CONNECTION_RESET);
    peer.confirming.swap(peer.put);
    const ucp_request_param_t parameters = request_of(confirmed, &peer);
    const ucs_status_ptr_t flush = library_->ep_flush_nbx(peer.endpoint, &parameters);
    if (UCS_PTR_IS_PTR(flush)) return;
    end_puts(peer.confirming, UCS_PTR_STATUS(flush));
  }
}

void Worker::confirmed(void* request, ucs_status_t status, void* of) {
  Peer& peer = *static_cast<Peer*>(of);
  peer.worker->library_->request_free(request);
  peer.worker->end_puts(peer.confirming, status);
  peer.worker->confirm(peer);
}

void Worker::end_puts(std::vector<Transfer*>& puts, ucs_status_t status) {
  for (Transfer* const put : std::exchange(puts, {})) end(*put, status);
}

}  // namespace ashlar::ucx
