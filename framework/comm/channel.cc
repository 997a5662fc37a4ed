#include "framework/comm/channel.h"

#include <mpi.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "framework/base/failure.h"

namespace ashlar::comm {
namespace {

constexpr std::int64_t kMostWords = std::int64_t{1} << 27;  // no group is as large; a stream out of step looks like it

/// Writes or reads as much as there is room for, or is there. False: the other side has hung up (`error`, or 0).
bool advance(ssize_t (*step)(int, char*, std::size_t), int fd, char* bytes, std::size_t length, std::size_t* done,
             int* error) {
  while (*done < length) {
    const ssize_t n = step(fd, bytes + *done, length - *done);
    if (n > 0) {
      *done += static_cast<std::size_t>(n);
      continue;
    }
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return true;
    *error = n < 0 ? errno : 0;
    return false;
  }
  return true;
}

ssize_t send_some(int fd, char* bytes, std::size_t length) { return send(fd, bytes, length, MSG_NOSIGNAL); }
ssize_t receive_some(int fd, char* bytes, std::size_t length) { return recv(fd, bytes, length, 0); }

/// One trade, as far as it has come: the number of words, the words, and behind them the tag where there are seals.
class Trade {
 public:
  Trade(int fd, Seals* seals, const std::vector<std::int64_t>& mine, std::vector<std::int64_t>* theirs)
      : fd_(fd), seals_(seals), theirs_(*theirs) {
    const auto count = static_cast<std::int64_t>(mine.size());
    out_.resize((1 + mine.size()) * sizeof count);
    std::memcpy(out_.data(), &count, sizeof count);
    if (!mine.empty()) std::memcpy(out_.data() + sizeof count, mine.data(), out_.size() - sizeof count);
    if (seals == nullptr) return;
    seals->out.hide(out_.data(), out_.size());
    const Digest tag = seals->out.tag();
    out_.insert(out_.end(), tag.begin(), tag.end());
  }

  /// Goes on. False: there is no more to be done.
  bool step() {
    const bool open = advance(send_some, fd_, out_.data(), out_.size(), &sent_, &error) && read_count() && read_words();
    closed = closed || !open;
    return !closed && (sent_ < out_.size() || !complete_);
  }

  int error = 0;        // of the system; 0: the other side has hung up
  bool closed = false;  // the trade has failed
  bool forged = false;  // what came was not what the other side sent

 private:
  bool read_count() {
    if (counted_) return true;
    if (!advance(receive_some, fd_, reinterpret_cast<char*>(&count_), sizeof count_, &got_, &error)) return false;
    if (got_ < sizeof count_) return true;
    if (seals_ != nullptr) seals_->in.show(&count_, sizeof count_);
    if (count_ < 0 || count_ > kMostWords) {
      error = EPROTO;
      return false;
    }
    counted_ = true;
    got_ = 0;
    theirs_.resize(static_cast<std::size_t>(count_));
    return true;
  }

  bool read_words() {
    if (!counted_ || complete_) return true;
    const std::size_t bytes = theirs_.size() * sizeof(std::int64_t);
    if (got_ < bytes && !advance(receive_some, fd_, reinterpret_cast<char*>(theirs_.data()), bytes, &got_, &error))
      return false;
    complete_ = got_ == bytes && seals_ == nullptr;
    return got_ < bytes || seals_ == nullptr || read_tag();
  }

  bool read_tag() {
    if (!advance(receive_some, fd_, reinterpret_cast<char*>(tag_.data()), tag_.size(), &tagged_, &error)) return false;
    if (tagged_ < tag_.size()) return true;
    seals_->in.show(theirs_.data(), theirs_.size() * sizeof(std::int64_t));
    complete_ = same(tag_, seals_->in.tag());
    forged = !complete_;
    return complete_;
  }

  const int fd_;
  Seals* const seals_;
  std::vector<char> out_;
  std::vector<std::int64_t>& theirs_;
  std::int64_t count_ = 0;
  Digest tag_ = {};
  std::size_t sent_ = 0, got_ = 0, tagged_ = 0;
  bool counted_ = false, complete_ = false;
};

}  // namespace

Status Channel::trade(Lane& lane, const std::vector<std::int64_t>& mine, std::vector<std::int64_t>* theirs) {
  theirs->clear();
  Trade trade(fd(), seals_.get(), mine, theirs);
  wait_beside(lane, "for the process at the other end of the connection", [&trade] { return !trade.step(); });
  if (!trade.closed) return {};
  if (trade.forged) return fail(MPI_ERR_OTHER, "comm.channel_forged");
  return fail(MPI_ERR_OTHER, "comm.channel_closed", {{"lower", trade.error ? std::strerror(trade.error) : ""}});
}

}  // namespace ashlar::comm
