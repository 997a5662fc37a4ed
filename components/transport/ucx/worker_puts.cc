#include <cstring>
#include <utility>

#include "components/transport/common/endpoint.h"
#include "components/transport/ucx/worker.h"
#include "framework/base/clock.h"

// Memory of peers that is written: by the card, or by UCX in the calls of the process that has it.
namespace ashlar::ucx {
namespace {

using network::Transfer;

constexpr std::uint64_t kConnecting = 5'000'000'000;  // for the first put, which makes the connection
constexpr std::uint64_t kAlone = 20'000'000;          // for one that needs nothing of its target

}  // namespace

/// A second worker of a process and its way to the first, to try puts over.
struct Second {
  ucp_worker_h worker = nullptr;
  ucp_ep_h endpoint = nullptr;
  ucp_rkey_h key = nullptr;
};

void Worker::judge_puts() {
  if (asks_ || config_.puts == kNever) return;
  const bool alone = prove_puts();
  puts_ = alone || config_.puts == kAlways;
  why_ += alone   ? "; puts need nothing of the peer's program"
          : puts_ ? "; puts wait for calls of the peer's program, as transport.ucx.puts allows"
                  : "; one-sided communication uses messages, not its puts";
}

/// By puts of a second worker into memory of the first, which does nothing for them. One-sided communication counts on
/// puts that need nothing of the peer's program.
bool Worker::prove_puts() {
  network::Registration known;
  if (!enlist(&trial_.to, sizeof trial_.to, kRead | kPut, &known)) return false;
  const network::RemoteKey named = key_of(known, &trial_.to);
  PackedKey packed;
  std::memcpy(&packed, named.bytes, sizeof packed);
  Second second;
  const ucp_err_handler_t lost = {.cb = [](void*, ucp_ep_h, ucs_status_t) {}, .arg = nullptr};
  const bool proved = make_worker(&second.worker) == UCS_OK &&
                      make_endpoint(second.worker, address(), lost, &second.endpoint) == UCS_OK &&
                      library_->ep_rkey_unpack(second.endpoint, packed.bytes, &second.key) == UCS_OK &&
                      try_put(second, named.base, 1, true, kConnecting) &&
                      try_put(second, named.base, 2, false, kAlone);
  if (second.key != nullptr) library_->rkey_destroy(second.key);
  if (void* const closing = close_endpoint(second.endpoint, Close::kNow); closing != nullptr)
    library_->request_free(closing);
  if (second.worker != nullptr) library_->worker_destroy(second.worker);
  delist(known);
  return proved;
}

/// Whether the value arrives in time, and UCX tells that. `helps`: the first worker makes progress as well.
bool Worker::try_put(const Second& second, std::uint64_t there, std::uint64_t value, bool helps, std::uint64_t limit) {
  trial_.from = value;
  const ucp_request_param_t plain = {};
  const ucs_status_ptr_t put =
      library_->put_nbx(second.endpoint, &trial_.from, sizeof trial_.from, there, second.key, &plain);
  const ucs_status_ptr_t flush = library_->ep_flush_nbx(second.endpoint, &plain);
  bool good = true;
  for (const ucs_status_ptr_t request : {put, flush}) {
    const auto status = [&] {
      return UCS_PTR_IS_PTR(request) ? library_->request_check_status(request) : UCS_PTR_STATUS(request);
    };
    for (const std::uint64_t until = now_ns() + limit; status() == UCS_INPROGRESS && now_ns() < until;) {
      (void)library_->worker_progress(second.worker);
      if (helps) (void)library_->worker_progress(worker_);
    }
    good = good && status() == UCS_OK;
    if (UCS_PTR_IS_PTR(request)) library_->request_free(request);
  }
  return good && trial_.to.load(std::memory_order_acquire) == value;
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
