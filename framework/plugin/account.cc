#include "framework/plugin/account.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace ashlar::plugin {
namespace {

/// A peer as the lines have it.
struct PeerText {
  explicit PeerText(std::uint32_t peer) {
    if (peer == kAnyPeer)
      std::snprintf(text, sizeof text, "*");
    else if (peer == kNoPeer)
      std::snprintf(text, sizeof text, "-");
    else
      std::snprintf(text, sizeof text, "%u", peer);
  }
  char text[16];
};

std::string_view word(std::string_view* rest) {
  const std::size_t end = std::min(rest->find(' '), rest->size());
  const std::string_view found = rest->substr(0, end);
  rest->remove_prefix(std::min(end + 1, rest->size()));
  return found;
}

std::uint32_t number(std::string_view text) {
  return static_cast<std::uint32_t>(std::strtoul(std::string(text).c_str(), nullptr, 10));
}

std::uint32_t peer(std::string_view text) {
  if (text == "*") return kAnyPeer;
  if (text == "-") return kNoPeer;
  return number(text);
}

/// "0-3,7"
std::vector<std::uint32_t> ranks(std::string_view text) {
  constexpr std::size_t kMost = 1u << 20;  // no job has more, all ranges together; a damaged page may say so
  std::vector<std::uint32_t> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    const std::string_view range = text.substr(0, end);
    const std::size_t dash = range.find('-');
    const std::uint32_t first = number(range.substr(0, dash));
    const std::uint32_t last = dash == std::string_view::npos ? first : number(range.substr(dash + 1));
    if (last < first || last - first >= kMost - out.size()) return {};
    for (std::uint32_t i = 0; i <= last - first; ++i) out.push_back(first + i);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace

void AccountWriter::line(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const std::size_t left = room_ - used_;
  const int wanted = std::vsnprintf(out_ + used_, left, format, arguments);
  va_end(arguments);
  // The line's end takes the place of the zero.
  if (wanted < 0 || static_cast<std::size_t>(wanted) >= left) {
    ++dropped_;
    return;
  }
  used_ += static_cast<std::size_t>(wanted);
  out_[used_++] = '\n';
}

void AccountWriter::waiting(std::uint64_t since_ns) {
  waits_ = true;
  line("t %llu", static_cast<unsigned long long>(since_ns));
}

void AccountWriter::waits_for(std::uint32_t peer_id, const char* text) {
  line("w %s %s", PeerText(peer_id).text, text);
}

void AccountWriter::under_way(std::uint32_t peer_id, const char* text) {
  line("p %s %s", PeerText(peer_id).text, text);
}

void AccountWriter::has_begun(std::uint32_t context, std::uint32_t count) { line("s %u %u", context, count); }

void AccountWriter::finalizing() { line("f"); }

void AccountWriter::waits_in_collective(std::uint32_t context, std::uint32_t count, int size,
                                        std::uint32_t (*rank_of)(const void* group, int i), const void* group,
                                        const char* text) {
  char list[512];
  std::size_t used = 0;
  for (int i = 0; i < size;) {
    const std::uint32_t first = rank_of(group, i);
    std::uint32_t last = first;
    while (++i < size && rank_of(group, i) == last + 1) ++last;
    if (used + 24 > sizeof list) break;  // a process left out is not in the answer
    const int n = first == last
                      ? std::snprintf(list + used, sizeof list - used, "%s%u", used ? "," : "", first)
                      : std::snprintf(list + used, sizeof list - used, "%s%u-%u", used ? "," : "", first, last);
    used += static_cast<std::size_t>(n);
  }
  line("c %u %u %s %s", context, count, list, text);
}

std::size_t AccountWriter::finish() {
  if (dropped_ > 0) {
    const int n = std::snprintf(out_ + used_, kReserve, "+ %u\n", dropped_);
    used_ += static_cast<std::size_t>(n);
    dropped_ = 0;
  }
  return used_;
}

Account Account::parse(std::string_view text) {
  Account out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view rest = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::string_view kind = word(&rest);
    if (kind == "t") {
      out.waits = true;
      out.since_ns = std::strtoull(std::string(rest).c_str(), nullptr, 10);
    } else if (kind == "w" || kind == "p") {
      Entry entry;
      entry.peer = peer(word(&rest));
      entry.text = rest;
      (kind == "w" ? out.waits_for : out.under_way).push_back(std::move(entry));
    } else if (kind == "c") {
      Collective entry;
      entry.context = number(word(&rest));
      entry.number = number(word(&rest));
      entry.ranks = ranks(word(&rest));
      entry.text = rest;
      out.collectives.push_back(std::move(entry));
    } else if (kind == "s") {
      const std::uint32_t context = number(word(&rest));
      out.begun.push_back({context, number(rest)});
    } else if (kind == "f") {
      out.finalizing = true;
    } else if (kind == "+") {
      out.dropped = number(rest);
    }
  }
  return out;
}

}  // namespace ashlar::plugin
