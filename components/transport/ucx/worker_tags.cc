#include <algorithm>
#include <cstring>
#include <utility>

#include "components/transport/common/endpoint.h"
#include "components/transport/ucx/worker.h"

// Messages that UCX matches by tags. UCX moves nothing of a message that is longer than its receive, not even its head;
// so its receives are as long as may be, and a datatype of ours puts the head aside and drops what is too much.
//
// What UCX tells inside of its own progress is kept until that is over: a receive that is posted there may move the
// table of messages in pieces, in which UCX still has a place.
namespace ashlar::ucx {
namespace {

using network::TagHead;
using network::TagReceive;

/// What a receive that UCX has, or has just ended, has in Operation::library.
struct Taking {
  Worker* worker = nullptr;
  void* request = nullptr;  // nullptr: UCX has none, or has none any more
  ucp_tag_t tag = 0;
  std::size_t length = 0;  // with the head
  ucs_status_t status = UCS_OK;
  bool over = false;
  bool beginning = false;             // in the function that begins it
  ucp_tag_message_h found = nullptr;  // by a claim whose receive UCX had no room for
};
Taking& taking(TagReceive& receive) { return *reinterpret_cast<Taking*>(receive.library); }
static_assert(sizeof(Taking) <= sizeof(TagReceive::library));

ucs_status_t put(void* state, std::size_t at, const void* data, std::size_t length) {
  auto& receive = *static_cast<TagReceive*>(state);
  const auto* from = static_cast<const std::byte*>(data);
  if (at < sizeof(TagHead)) {
    const std::size_t n = std::min(length, sizeof(TagHead) - at);
    std::memcpy(reinterpret_cast<std::byte*>(&receive.head) + at, from, n);
    at += n;
    from += n;
    length -= n;
  }
  at -= sizeof(TagHead);
  if (length != 0 && receive.to != nullptr && at < receive.length)
    std::memcpy(static_cast<std::byte*>(receive.to) + at, from, std::min<std::size_t>(length, receive.length - at));
  return UCS_OK;
}

constexpr std::size_t kAnyLength = std::size_t{1} << 40;

}  // namespace

const char* Worker::start_tags(ucs_status_t* status) {
  ucp_generic_dt_ops_t functions = {};
  functions.start_unpack = [](void*, void* receive, std::size_t) { return receive; };
  functions.packed_size = [](void*) { return kAnyLength; };
  functions.unpack = put;
  functions.finish = [](void*) {};
  *status = library_->dt_create_generic(&functions, nullptr, &taken_);
  return *status == UCS_OK ? nullptr : "its tagged messages";
}

Worker::Posted Worker::post_tag(TagReceive& receive) {
  ucp_request_param_t parameters = receive_of(receive);
  return begun(receive, library_->tag_recv_nbx(worker_, &receive, 1, receive.tag, ~receive.ignored, &parameters));
}

Worker::Claimed Worker::claim(TagReceive& receive) {
  ucp_tag_recv_info_t info = {};
  ucp_tag_message_h message = taking(receive).found;
  if (message == nullptr) message = library_->tag_probe_nb(worker_, receive.tag, ~receive.ignored, 1, &info);
  if (message == nullptr) return Claimed::kNone;
  ucp_request_param_t parameters = receive_of(receive);
  if (begun(receive, library_->tag_msg_recv_nbx(worker_, &receive, 1, message, &parameters)) == Posted::kYes)
    return Claimed::kYes;
  taking(receive).found = message;
  return Claimed::kLater;
}

/// A receive that is about to begin: its end is told through a function, at once as well.
ucp_request_param_t Worker::receive_of(TagReceive& receive) {
  taking(receive) = {.worker = this, .beginning = true};
  receive.head = {};
  ucp_request_param_t parameters = {};
  parameters.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_DATATYPE |
                            UCP_OP_ATTR_FIELD_MEMORY_TYPE | UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
  parameters.cb.recv = received;
  parameters.user_data = &receive;
  parameters.datatype = taken_;
  parameters.memory_type = UCS_MEMORY_TYPE_HOST;
  return parameters;
}

/// What UCX has returned for it. One that has its message is over, and gone.
Worker::Posted Worker::begun(TagReceive& receive, void* request) {
  Taking& state = taking(receive);
  state.beginning = false;
  if (UCS_PTR_IS_ERR(request)) {
    reason_ = library_->status_string(UCS_PTR_STATUS(request));
    return Posted::kLater;
  }
  if (state.over)
    tell(receive);
  else
    state.request = request;
  return Posted::kYes;
}

void Worker::received(void* request, ucs_status_t status, const ucp_tag_recv_info_t* info, void* of) {
  auto& receive = *static_cast<TagReceive*>(of);
  Taking& state = taking(receive);
  Worker& worker = *state.worker;
  state.status = status;
  state.tag = info->sender_tag;
  state.length = info->length;
  state.request = nullptr;
  state.over = true;
  worker.library_->request_free(request);
  if (!state.beginning) worker.kept_.tags.push_back(&receive);
}

void Worker::tell(TagReceive& receive) {
  const Taking state = taking(receive);
  const TagEnd end = state.status == UCS_OK             ? TagEnd::kTaken
                     : state.status == UCS_ERR_CANCELED ? TagEnd::kCancelled
                                                        : TagEnd::kFailed;
  if (state.length != sizeof(TagHead) + network::tag_length(receive.head.data)) receive.head.proof = 0;  // not ours
  events_->tag_ended(receive, end, state.tag, receive.head.data,
                     end == TagEnd::kFailed ? library_->status_string(state.status) : "");
}

void Worker::tell_tags() {
  while (!kept_.tags.empty()) {
    telling_.swap(kept_.tags);
    for (TagReceive* receive : telling_) tell(*receive);
    handled_ += static_cast<unsigned>(telling_.size());
    telling_.clear();
  }
}

/// What waits for a message ends at once, and what has one when that is whole.
void Worker::cancel(TagReceive& receive) {
  if (void* const request = taking(receive).request; request != nullptr) library_->request_cancel(worker_, request);
}

bool Worker::abandon(TagReceive& receive) {
  receive.to = nullptr;
  return true;
}

}  // namespace ashlar::ucx
