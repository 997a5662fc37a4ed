#include "framework/progress/user_call.h"

#include <cstdio>
#include <string>

#include "framework/base/printable.h"
#include "framework/object/comm.h"
#include "framework/object/window.h"

namespace ashlar::progress {
namespace {

// Of the thread, and of no lane: the waits within a call may be on any of them, and two threads may be in calls of one.
thread_local const UserCall* outermost = nullptr;

}  // namespace

void UserCall::begin() {
  if (outermost == nullptr) outermost = this;
}

UserCall::~UserCall() {
  if (outermost == this) outermost = nullptr;
}

const UserCall* UserCall::current() { return outermost; }

void UserCall::describe(char* out, std::size_t room) const {
  char tag[24] = "";
  if (tag_ >= 0) std::snprintf(tag, sizeof tag, " with tag %d", tag_);
  if (string_tag_ != nullptr)
    std::snprintf(out, room, "%s with string tag '%s'", name_, printable(string_tag_).c_str());
  else if (window_ != nullptr)
    std::snprintf(out, room, "%s on window '%s'", name_,
                  window_->name.empty() ? window_->comm->name.c_str() : window_->name.c_str());
  else
    std::snprintf(out, room, "%s%s on '%s'", name_, tag, comm_->name.c_str());
}

}  // namespace ashlar::progress
