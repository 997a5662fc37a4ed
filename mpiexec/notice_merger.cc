#include "mpiexec/notice_merger.h"

#include <map>
#include <utility>

#include "mpiexec/alike.h"
#include "mpiexec/text.h"

namespace ashlar::mpiexec {
namespace {

constexpr std::uint64_t kMoment = 100'000'000;  // from the first notice on
constexpr std::size_t kMostHeld = 1u << 20;     // bytes of all ranks together; then nothing waits

/// Through the newline of the first line; 0: it is unfinished.
std::size_t line_length(std::string_view bytes) { return bytes.find('\n') + 1; }

}  // namespace

/// Where the words of a notice begin in a line; 0: it is none of this rank's.
std::size_t NoticeMerger::body_of(unsigned rank, std::string_view line) const {
  const std::string name = text("ashlar: rank %u of %zu", rank, ranks_.size());
  if (!line.starts_with(name)) return 0;
  std::size_t at = name.size();
  if (line.substr(at).starts_with(" on ")) at = line.find(": ", at);
  if (at == line.npos || !line.substr(at).starts_with(": ")) return 0;
  at += 2;
  // The words of report_text.h, and those of base/log.h.
  for (const char* const level : {"warning: ", "error: ", "warn ", "error "})
    if (line.substr(at).starts_with(level)) return at;
  return 0;
}

/// Holds the notices at the beginning of `bytes`. Returns their length.
std::size_t NoticeMerger::take_notices(unsigned rank, std::string_view bytes) {
  std::size_t taken = 0;
  for (;;) {
    const std::string_view rest = bytes.substr(taken);
    std::size_t length = line_length(rest);
    const std::size_t body = length == 0 ? 0 : body_of(rank, rest.substr(0, length));
    if (body == 0) return taken;
    for (std::size_t more = length; more != 0; length += more)
      more = rest.substr(length).starts_with("  ") ? line_length(rest.substr(length)) : 0;
    Notice notice = {
        .rank = rank, .text = std::string(rest.substr(0, length)), .body = body, .likeness = {}, .number = 0};
    notice.likeness = without_numbers(notice.text.substr(body));
    for (const Notice& other : notices_)
      if (other.rank == rank && other.likeness == notice.likeness) ++notice.number;
    held_bytes_ += length;
    notices_.push_back(std::move(notice));
    ++ranks_[rank].held;
    taken += length;
  }
}

void NoticeMerger::pass(unsigned rank, std::string_view bytes) {
  if (bytes.empty()) return;
  ranks_[rank].in_line = bytes.back() != '\n';
  to_.add(rank, bytes);
}

void NoticeMerger::add(unsigned rank, std::string_view bytes, std::uint64_t now) {
  if (!on_) return to_.add(rank, bytes);
  Rank& from = ranks_[rank];
  while (!bytes.empty()) {
    if (from.after.empty() && !from.in_line) bytes.remove_prefix(take_notices(rank, bytes));
    if (from.held > 0) {
      from.after += bytes;
      held_bytes_ += bytes.size();
      break;
    }
    // A notice may begin with any line.
    const std::size_t length = line_length(bytes);
    pass(rank, bytes.substr(0, length == 0 ? bytes.npos : length));
    if (length == 0) break;
    bytes.remove_prefix(length);
  }
  if (!notices_.empty() && due_ns_ == 0) due_ns_ = now + kMoment;
  if (held_bytes_ > kMostHeld) flush();
}

void NoticeMerger::end(unsigned rank) {
  if (ranks_[rank].held > 0)
    ranks_[rank].ended = true;
  else
    to_.end(rank);
}

void NoticeMerger::tell(const std::vector<const Notice*>& alike) {
  const Notice& first = *alike[0];
  if (alike.size() == 1) return pass(first.rank, first.text);
  std::vector<RankText> texts;
  for (const Notice* notice : alike) texts.push_back({notice->rank, notice->text.substr(notice->body)});
  const std::string name = text("ashlar: rank %u", first.rank);
  for (const SaidAlike& said : put_together(texts))
    pass(first.rank,
         "ashlar: ranks " + list_of(said.ranks) + first.text.substr(name.size(), first.body - name.size()) + said.text);
}

void NoticeMerger::flush() {
  std::vector<std::vector<const Notice*>> groups;
  std::map<std::pair<std::string_view, unsigned>, std::size_t> known;
  for (const Notice& notice : notices_) {
    const auto [at, is_new] = known.emplace(std::pair(std::string_view(notice.likeness), notice.number), groups.size());
    if (is_new) groups.emplace_back();
    groups[at->second].push_back(&notice);
  }
  for (const auto& group : groups) tell(group);
  for (unsigned r = 0; r < ranks_.size(); ++r) {
    if (ranks_[r].held == 0) continue;
    ranks_[r].held = 0;
    const std::string after = std::exchange(ranks_[r].after, {});
    pass(r, after);
    if (ranks_[r].ended) to_.end(r);
  }
  notices_.clear();
  held_bytes_ = 0;
  due_ns_ = 0;
}

}  // namespace ashlar::mpiexec
