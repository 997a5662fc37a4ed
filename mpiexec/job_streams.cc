// What ranks write, and where it goes.
#include <algorithm>
#include <cstring>

#include "framework/base/clock.h"
#include "mpiexec/job.h"
#include "mpiexec/text.h"

namespace ashlar::mpiexec {
namespace {

constexpr std::uint64_t kPartialLine = 50'000'000;  // until an unfinished line is shown on a terminal
constexpr int kSilenceMs = 200;                     // how long leftover children may go on writing

}  // namespace

void Job::stream_ended(unsigned rank, bool error_stream) {
  bool& open = fates_[rank].remote_stream[error_stream ? 1 : 0];
  if (open) --remote_streams_;
  open = false;
  if (error_stream)
    notices_.end(rank);
  else
    merged_out_.end(rank);
}

void Job::close_stream(unsigned rank, bool error_stream) {
  if (nodes_.here(rank)) {
    here_.close_stream(rank, error_stream);
  } else if (fates_[rank].remote_stream[error_stream ? 1 : 0]) {
    there_.close_stream(rank, error_stream);
    stream_ended(rank, error_stream);
  }
}

void Job::rank_wrote(unsigned rank, bool error_stream, std::string_view bytes) {
  if (files_.has(rank)) {
    if (files_.write(rank, error_stream, bytes) ||
        std::find(cut_short_.begin(), cut_short_.end(), rank) != cut_short_.end())
      return;
    cut_short_.push_back(rank);
    output_lost_ = true;
    return;
  }
  LineMerger& merged = error_stream ? merged_err_ : merged_out_;
  if (!nodes_.here(rank) && !fates_[rank].remote_stream[error_stream ? 1 : 0]) return;  // its reader has left
  if (error_stream)
    notices_.add(rank, bytes, now_ns());
  else
    merged.add(rank, bytes);
  if ((error_stream ? to_err_ : to_out_).terminal() && merged.has_partial(rank)) flush_at_ns_ = now_ns() + kPartialLine;
}

void Job::write_streams() {
  for (bool error_stream : {false, true}) {
    LineMerger& merged = error_stream ? merged_err_ : merged_out_;
    OutputFd& to = error_stream ? to_err_ : to_out_;
    if (!to.broken()) merged.written(to.write(merged.ready()));
    if (!to.broken()) continue;
    if (!to.reader_left()) {
      if (merged.queued()) cannot_write(error_stream, to.error());
      merged.discard();
      continue;
    }
    // The reader has gone: the ranks learn it as any program in a pipeline does, by SIGPIPE.
    for (unsigned r = 0; r < fates_.size(); ++r) close_stream(r, error_stream);
    merged.discard();
  }
}

// A full disk does not end a computation: its output is read and discarded, and the exit status is not 0.
void Job::cannot_write(bool error_stream, int reason) {
  bool& said = said_lost_[error_stream ? 1 : 0];
  if (said) return;
  said = output_lost_ = true;
  say(text("standard %s cannot be written: %s. The ranks go on, and what they write there from now on is lost",
           error_stream ? "error" : "output", std::strerror(reason)));
}

void Job::drain_after_end() {
  // What the ranks wrote is all in the pipes. Children they left behind may hold the pipes open for ever, so only
  // silence ends the wait for them; a rank's own output is followed by its end of file.
  auto open_streams_left = [this] { return here_.streams_open() || remote_streams_ > 0; };
  std::uint64_t silent_since = now_ns();
  while (open_streams_left() && now_ns() - silent_since < std::uint64_t{kSilenceMs} * 1'000'000) {
    const std::size_t before = merged_out_.queued() + merged_err_.queued();
    poll_once(kSilenceMs / 4);
    if (before || merged_out_.queued() + merged_err_.queued()) silent_since = now_ns();
    if (interrupted_by_) break;
  }
  for (unsigned r = 0; r < fates_.size(); ++r)
    for (bool error_stream : {false, true}) close_stream(r, error_stream);
  notices_.flush();
  const auto unwritten = [this] {
    return (merged_out_.queued() && !to_out_.broken()) || (merged_err_.queued() && !to_err_.broken());
  };
  write_streams();
  while (unwritten()) {
    poll_once(-1);
    write_streams();
    if (interrupted_by_ && kill_at_ns_) return;  // a second signal: leave the rest
  }
}

}  // namespace ashlar::mpiexec
