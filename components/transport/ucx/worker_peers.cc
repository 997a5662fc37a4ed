#include <sched.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "components/transport/common/endpoint.h"
#include "components/transport/ucx/worker.h"
#include "framework/base/clock.h"

// Operations with peers, and what becomes of them.
namespace ashlar::ucx {
namespace {

using network::Buffer;
using network::Transfer;

constexpr int kLooksAtOnce = 16;
constexpr std::uint64_t kAgain = 100'000'000;  // between two endpoints to a process that did not answer the first
constexpr std::uint64_t kFlushing = 1'000'000'000;
constexpr std::uint64_t kClosing = 100'000'000;  // for UCX to end what it has

}  // namespace

network::Path Worker::insert(const std::vector<std::uint8_t>& address, network::Endpoint* owner) {
  if (address.empty()) return network::kNoPath;
  auto peer = std::make_unique<Peer>();
  peer->address = address;
  peer->owner = owner;
  peer->worker = this;
  if (free_paths_.empty()) {
    peers_.push_back(std::move(peer));
    return peers_.size() - 1;
  }
  const network::Path path = free_paths_.back();
  free_paths_.pop_back();
  peers_[path] = std::move(peer);
  return path;
}

/// The last frame may be in UCX still, which closes the endpoint behind it.
bool Worker::remove(network::Path path) {
  Peer& peer = *peers_[path];
  if (peer.failure != UCS_OK || peer.flushing) return false;
  if (peer.closing == nullptr) peer.closing = close_endpoint(std::exchange(peer.endpoint, nullptr), Close::kFlushed);
  if (peer.closing != nullptr) {
    if (library_->request_check_status(peer.closing) == UCS_INPROGRESS) return false;
    library_->request_free(std::exchange(peer.closing, nullptr));
  }
  if (peer.endpoint != nullptr) return false;  // of messages since the first call
  peers_[path].reset();
  free_paths_.push_back(path);
  return true;
}

/// Whether the peer has an endpoint; one that UCX has given up is made again after a while.
bool Worker::ready(Peer& peer) {
  if (peer.endpoint != nullptr) [[likely]]
    return peer.failure == UCS_OK;
  if (inside_ || (peer.again_at != 0 && now_ns() < peer.again_at)) return false;
  peer.failure = UCS_OK;
  const ucs_status_t status = make_endpoint(worker_, peer.address, {.cb = lost, .arg = &peer}, &peer.endpoint);
  if (status == UCS_OK) return true;
  peer.endpoint = nullptr;
  give_up(peer, status);
  return false;
}

/// The rest is done by look(): endpoints are closed outside of UCX's own functions.
void Worker::give_up(Peer& peer, ucs_status_t status) {
  if (peer.failure != UCS_OK) return;
  peer.failure = status;
  given_up_.push_back(&peer);
}

Worker::Posted Worker::post(Buffer& buffer, network::Path to) {
  Peer& peer = *peers_[to];
  if (!ready(peer)) return Posted::kLater;
  ucp_request_param_t parameters = request_of(sent, &buffer);
  *reinterpret_cast<Worker**>(buffer.library) = this;
  ucs_status_ptr_t left = nullptr;
  if (buffer.tagged) {
    left = library_->tag_send_nbx(peer.endpoint, buffer.bytes, buffer.length, buffer.tag, &parameters);
  } else {
    parameters.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
    parameters.flags = UCP_AM_SEND_FLAG_EAGER;
    left = library_->am_send_nbx(peer.endpoint, kMessageId, nullptr, 0, buffer.bytes, buffer.length, &parameters);
  }
  if (UCS_PTR_IS_ERR(left)) [[unlikely]] {
    give_up(peer, UCS_PTR_STATUS(left));
    return Posted::kLater;
  }
  peer.unflushed = true;
  return left == nullptr ? Posted::kDone : Posted::kYes;
}

ucs_status_t Worker::arrived(void* self, const void*, std::size_t, void* data, std::size_t length,
                             const ucp_am_recv_param_t* parameters) {
  auto& worker = *static_cast<Worker*>(self);
  ++worker.handled_;
  if ((parameters->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0 || length > worker.frame_bytes_) {
    worker.events_->damaged();
    return UCS_OK;
  }
  const auto* bytes = static_cast<const std::byte*>(data);
  if (!network::is_aligned(data)) {
    std::memcpy(worker.aligned_.get(), data, length);
    bytes = worker.aligned_.get();
  }
  if (worker.looking_) [[likely]]
    (void)worker.events_->arrived(bytes, length, nullptr);
  else
    worker.kept_.frames.emplace_back(bytes, bytes + length);
  return UCS_OK;
}

void Worker::sent(void* request, ucs_status_t status, void* of) {
  Buffer& buffer = *static_cast<Buffer*>(of);
  Worker& worker = **reinterpret_cast<Worker**>(buffer.library);
  worker.library_->request_free(request);
  worker.end(buffer, status);
}

/// That a frame has left may be told at any time, a failure not.
void Worker::end(Buffer& buffer, ucs_status_t status) {
  if (status == UCS_OK)
    events_->sent(buffer);
  else if (looking_)
    events_->not_sent(buffer, library_->status_string(status));
  else
    kept_.buffers.emplace_back(&buffer, status);
}

void Worker::lost(void* of, ucp_ep_h, ucs_status_t status) {
  auto& peer = *static_cast<Peer*>(of);
  peer.worker->give_up(peer, status);
}

void Worker::flushed(void* request, ucs_status_t, void* of) {
  auto& peer = *static_cast<Peer*>(of);
  peer.flushing = false;
  peer.worker->library_->request_free(request);
}

/// Cards are asked for it. Over tcp a flush would need the peer's software, which may be at rest; there a frame that
/// UCX has copied says that all before it are the system's.
bool Worker::left(network::Path path) {
  Peer& peer = *peers_[path];
  if (transports_ == "tcp") return true;
  if (peer.flushing) return now_ns() >= peer.flushed_until;
  if (!peer.unflushed || peer.endpoint == nullptr || peer.failure != UCS_OK) return true;
  peer.unflushed = false;
  const ucp_request_param_t parameters = request_of(flushed, &peer);
  const ucs_status_ptr_t flush = library_->ep_flush_nbx(peer.endpoint, &parameters);
  peer.flushing = flush != nullptr && !UCS_PTR_IS_ERR(flush);
  peer.flushed_until = now_ns() + kFlushing;
  return !peer.flushing;
}

unsigned Worker::look() {
  handled_ = 0;
  looking_ = true;
  if (!kept_.empty()) tell_kept();
  // Until there is something for the kernel: another look would only delay its answer.
  for (int looks = 0; looks < kLooksAtOnce && progress() && handled_ == 0 && kept_.tags.empty(); ++looks) {
  }
  tell_tags();
  if (!given_up_.empty()) close_given_up();
  looking_ = false;
  return handled_;
}

/// Not inside of look(): UCX would be called inside of its own callbacks, and what it brings would overtake what waits
/// to be told.
void Worker::make_room() {
  if (!looking_) progress();
}

/// Returns whether there was something to do.
bool Worker::progress() {
  const bool outer = std::exchange(inside_, true);
  const bool done = library_->worker_progress(worker_) != 0;
  inside_ = outer;
  return done;
}

void Worker::tell_kept() {
  tell_tags();
  const Kept kept = std::exchange(kept_, {});
  for (const std::vector<std::byte>& frame : kept.frames) (void)events_->arrived(frame.data(), frame.size(), nullptr);
  for (const auto& [buffer, status] : kept.buffers) end(*buffer, status);
  for (const auto& [transfer, status] : kept.transfers) end(*transfer, status);
  handled_ += static_cast<unsigned>(kept.frames.size() + kept.buffers.size() + kept.transfers.size());
}

/// Ends the endpoints that UCX has given up, and with them their operations; then their owners are told.
void Worker::close_given_up() {
  std::vector<Peer*> peers;
  peers.swap(given_up_);
  for (Peer* const peer : peers) {
    const ucs_status_t why = peer->failure;
    end_reads(peer, why);
    end_puts(peer->put, why);
    if (void* const closing = close_endpoint(std::exchange(peer->endpoint, nullptr), Close::kNow); closing != nullptr)
      library_->request_free(closing);
    peer->failure = UCS_OK;
    peer->unflushed = false;
    peer->again_at = now_ns() + kAgain;
    ++handled_;
    if (peer->owner != nullptr) events_->lost(*peer->owner, library_->status_string(why));
  }
}

ucs_status_t Worker::make_endpoint(ucp_worker_h from, const std::vector<std::uint8_t>& address, ucp_err_handler_t lost,
                                   ucp_ep_h* out) const {
  ucp_ep_params_t parameters = {};
  parameters.field_mask =
      UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
  parameters.address = reinterpret_cast<const ucp_address_t*>(address.data());
  parameters.err_mode = UCP_ERR_HANDLING_MODE_PEER;
  parameters.err_handler = lost;
  return library_->ep_create(from, &parameters, out);
}

/// Returns a request that is under way, or nullptr.
void* Worker::close_endpoint(ucp_ep_h endpoint, Close how) const {
  if (endpoint == nullptr) return nullptr;
  ucp_request_param_t parameters = {};
  parameters.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
  parameters.flags = how == Close::kNow ? UCP_EP_CLOSE_FLAG_FORCE : 0;
  const ucs_status_ptr_t closing = library_->ep_close_nbx(endpoint, &parameters);
  return UCS_PTR_IS_ERR(closing) ? nullptr : closing;
}

/// UCX arms its descriptor when it has nothing to do, be that for frames or for itself.
bool Worker::may_sleep() {
  for (int i = 0; i < kLooksAtOnce && kept_.empty() && given_up_.empty(); ++i) {
    if (library_->worker_arm(worker_) == UCS_OK) return true;
    (void)progress();
  }
  return false;
}

void Worker::close() {
  if (worker_ == nullptr) return;
  std::vector<void*> closing;
  for (const auto& peer : peers_) {
    if (peer == nullptr) continue;
    if (peer->closing != nullptr) closing.push_back(peer->closing);
    if (void* const request = close_endpoint(std::exchange(peer->endpoint, nullptr), Close::kNow); request != nullptr)
      closing.push_back(request);
  }
  const std::uint64_t until = now_ns() + kClosing;
  const auto under_way = [&](void* request) { return library_->request_check_status(request) == UCS_INPROGRESS; };
  while (std::any_of(closing.begin(), closing.end(), under_way) && now_ns() < until)
    if (library_->worker_progress(worker_) == 0) sched_yield();
  for (void* const request : closing) library_->request_free(request);
  for (UnderWay* const state : keyed_) {
    library_->rkey_destroy(state->key);  // it is the worker's memory
    state->worker = nullptr;
  }
  keyed_.clear();
  library_->worker_destroy(worker_);
  worker_ = nullptr;
  if (taken_ != 0) library_->dt_destroy(std::exchange(taken_, 0));
}

}  // namespace ashlar::ucx
