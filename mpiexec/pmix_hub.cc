#include "mpiexec/pmix_hub.h"
#include "framework/base/stream_socket.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <utility>

namespace ashlar::mpiexec {
namespace {

constexpr std::size_t kPiece = 1u << 16;
constexpr std::uint64_t kBesides = 1u << 20;  // of a message: what is no data of a fence
constexpr std::uint64_t kNever = ~std::uint64_t{0};
constexpr std::uint64_t kSecond = 1'000'000'000;

}  // namespace

void PmixHub::admit(Descriptor socket) {
  fcntl(socket.get(), F_SETFL, fcntl(socket.get(), F_GETFL) | O_NONBLOCK);
  servers_.push_back({.number = ++admitted_, .socket = std::move(socket), .arrived = {}, .out = {}, .processes = {}});
}

void PmixHub::add(std::vector<pollfd>* fds) {
  first_ = fds->size();
  polled_ = servers_.size();
  for (const Server& server : servers_)
    fds->push_back({server.socket.get(), static_cast<short>(POLLIN | (server.out.empty() ? 0 : POLLOUT)), 0});
}

void PmixHub::handle(const std::vector<pollfd>& fds, std::uint64_t now) {
  for (std::size_t i = 0; i < servers_.size(); ++i)
    if (!serve(servers_[i], i < polled_ && fds[first_ + i].revents != 0, now)) servers_[i].left = true;
  polled_ = 0;
  look_at_waiting(now);
  for (;;) {
    const auto left = std::find_if(servers_.begin(), servers_.end(), [](const Server& server) { return server.left; });
    if (left == servers_.end()) break;
    const Server gone = std::move(*left);
    servers_.erase(left);
    drop(gone);
  }
  for (Server& server : servers_)
    if (!send_some(server.socket.get(), &server.out)) server.left = true;
}

/// False: it is gone, or is no server of ours.
bool PmixHub::serve(Server& server, bool readable, std::uint64_t now) {
  char bytes[kPiece];
  while (readable) {
    const ssize_t n = recv(server.socket.get(), bytes, sizeof bytes, 0);
    if (is_later(n)) break;
    if (n <= 0) return false;
    server.arrived.append(bytes, static_cast<std::size_t>(n));
    PmixMessage message;
    bool broken = false;
    while (take(&server.arrived, most_ + kBesides, &message, &broken)) handle(server, message, now);
    if (broken) return false;
  }
  return true;
}

void PmixHub::send(std::uint64_t server, const PmixMessage& message) {
  for (Server& to : servers_)
    if (to.number == server) to.out += bytes_of(message);
}

void PmixHub::answer(std::uint64_t server, std::uint64_t number, PmixOutcome outcome) {
  PmixMessage message;
  message.word = PmixWord::kAnswer;
  message.number = number;
  message.outcome = outcome;
  send(server, message);
}

void PmixHub::handle(Server& from, PmixMessage& message, std::uint64_t now) {
  switch (message.word) {
    case PmixWord::kHello:
      return hello(from, message);
    case PmixWord::kEnded:
      return ended(message.process);
    case PmixWord::kJoin:
      return join(from, message);
    case PmixWord::kFetch:
      return fetch({.asker = from.number, .number = message.number, .owner = 0, .process = message.process});
    case PmixWord::kFetched:
      return fetched(from, message);
    case PmixWord::kPublish:
      answer(from.number, message.number, publish(from, message));
      return look_at_waiting(now);
    case PmixWord::kLookUp:
      if (!look_up(from.number, message, false))
        waiting_.push_back({.server = from.number,
                            .question = message,
                            .until_ns = message.seconds == 0 ? kNever : now + message.seconds * kSecond});
      return;
    case PmixWord::kWithdraw:
      withdraw(message);
      return answer(from.number, message.number, PmixOutcome::kDone);
    case PmixWord::kTell:
      message.word = PmixWord::kTold;
      for (const Server& other : servers_)
        if (other.number != from.number) send(other.number, message);
      return;
    case PmixWord::kExpected:
      if (message.count > 0) {
        Space& space = spaces_[message.process.space];
        space.expected = space.server_of.empty();
        answer(from.number, message.number, PmixOutcome::kDone);
      } else if (const auto space = spaces_.find(message.process.space);
                 space != spaces_.end() && space->second.server_of.empty()) {
        spaces_.erase(space);
        look_at_fetches();
        look_at_meetings();
      }
      return;
    default:
      from.left = true;
  }
}

void PmixHub::hello(Server& from, const PmixMessage& message) {
  for (const PmixProcess& process : message.processes) {
    Space& space = spaces_[process.space];
    space.ranks = message.count;
    space.expected = false;
    space.server_of[process.rank] = from.number;
  }
  from.processes = message.processes;
  look_at_fetches();
  look_at_meetings();
}

/// What waits for the process alone is told that it will not come.
void PmixHub::ended(const PmixProcess& process) {
  const auto space = spaces_.find(process.space);
  if (space == spaces_.end() || !space->second.gone.insert(process.rank).second) return;
  std::erase_if(published_, [&](const Published& p) { return p.with_owner && p.value.owner == process; });
  look_at_fetches();
  look_at_meetings();
}

void PmixHub::drop(const Server& server) {
  for (const PmixProcess& process : server.processes) ended(process);
  for (const PmixProcess& process : server.processes)
    if (const auto space = spaces_.find(process.space); space != spaces_.end())
      space->second.server_of.erase(process.rank);
  // A job without a server left is over.
  std::erase_if(spaces_, [](const auto& entry) { return entry.second.server_of.empty() && !entry.second.expected; });
  std::erase_if(fetches_, [&](const auto& entry) { return entry.second.asker == server.number; });
  std::erase_if(waiting_, [&](const Waiting& waiting) { return waiting.server == server.number; });
  for (auto& [number, fetch] : fetches_)
    if (fetch.owner == server.number) fetch.owner = 0;
  for (auto& [key, meeting] : meetings_)
    std::erase_if(meeting.parts, [&](const Meeting::Part& part) { return part.server == server.number; });
  std::erase_if(meetings_, [](const auto& entry) { return entry.second.parts.empty(); });
  look_at_fetches();
  look_at_meetings();
}

void PmixHub::join(const Server& from, PmixMessage& message) {
  Meeting& meeting = meetings_[{message.what, message.processes}];
  meeting.processes = message.processes;
  meeting.parts.push_back({.server = from.number,
                           .number = message.number,
                           .partial = message.outcome != PmixOutcome::kDone,
                           .data = std::move(message.data)});
  look_at_meetings();
}

void PmixHub::look_at_meetings() {
  for (auto at = meetings_.begin(); at != meetings_.end();) {
    bool partial = false;
    if (!is_over(at->second, &partial)) {
      ++at;
      continue;
    }
    close(at->second, partial);
    at = meetings_.erase(at);
  }
}

/// Whether every server has come that has a process which is expected and lives. One that is gone is missing for good.
bool PmixHub::is_over(const Meeting& meeting, bool* partial) const {
  const auto has_come = [&](std::uint64_t server) {
    return std::any_of(meeting.parts.begin(), meeting.parts.end(), [&](const auto& p) { return p.server == server; });
  };
  const auto settled = [&](const Space& space, std::uint32_t rank) {
    if (space.gone.contains(rank)) {
      *partial = true;
      return true;
    }
    const auto server = space.server_of.find(rank);
    return server != space.server_of.end() && has_come(server->second);
  };
  for (const PmixProcess& process : meeting.processes) {
    const auto space = spaces_.find(process.space);
    if (space == spaces_.end()) {
      *partial = true;
      continue;
    }
    if (space->second.expected) return false;
    const bool whole = process.rank == kWholeJob;
    for (std::uint32_t r = whole ? 0 : process.rank; r < (whole ? space->second.ranks : process.rank + 1); ++r)
      if (!settled(space->second, r)) return false;
  }
  return true;
}

void PmixHub::close(const Meeting& meeting, bool partial) {
  PmixMessage message;
  message.word = PmixWord::kAnswer;
  std::uint64_t bytes = 0;
  for (const Meeting::Part& part : meeting.parts) {
    partial = partial || part.partial;
    bytes += part.data.size();
  }
  message.outcome = partial ? PmixOutcome::kPartial : bytes > most_ ? PmixOutcome::kTooMuch : PmixOutcome::kDone;
  if (message.outcome == PmixOutcome::kDone)
    for (const Meeting::Part& part : meeting.parts) message.data += part.data;
  for (const Meeting::Part& part : meeting.parts) {
    message.number = part.number;
    send(part.server, message);
  }
}

void PmixHub::fetch(const Fetch& fetch) {
  fetches_.emplace(++fetches_so_far_, fetch);
  look_at_fetches();
}

/// Passes questions on whose process has a server, and ends those whose process has none and will have none.
void PmixHub::look_at_fetches() {
  for (auto at = fetches_.begin(); at != fetches_.end();) {
    Fetch& fetch = at->second;
    const std::uint64_t number = at->first;
    ++at;
    if (fetch.owner != 0) continue;
    const auto space = spaces_.find(fetch.process.space);
    bool hopeless = space == spaces_.end();
    if (!hopeless) {
      const Space& of = space->second;
      const bool whole = fetch.process.rank == kWholeJob;
      const auto server = whole ? of.server_of.begin() : of.server_of.find(fetch.process.rank);
      if (server != of.server_of.end()) {
        fetch.owner = server->second;
        PmixMessage wanted;
        wanted.word = PmixWord::kWanted;
        wanted.number = number;
        wanted.process = fetch.process;
        send(fetch.owner, wanted);
        continue;
      }
      hopeless = !of.expected && !whole && (fetch.process.rank >= of.ranks || of.gone.contains(fetch.process.rank));
    }
    if (!hopeless) continue;
    answer(fetch.asker, fetch.number, PmixOutcome::kNone);
    fetches_.erase(number);
  }
}

void PmixHub::fetched(const Server& from, PmixMessage& message) {
  const auto found = fetches_.find(message.number);
  if (found == fetches_.end() || found->second.owner != from.number) return;
  message.word = PmixWord::kAnswer;
  message.number = found->second.number;
  send(found->second.asker, message);
  fetches_.erase(found);
}

PmixOutcome PmixHub::publish(const Server& from, const PmixMessage& message) {
  std::uint64_t bytes = 0;
  for (const Published& old : published_) bytes += old.value.value.size();
  for (const PmixMessage::Value& value : message.values) {
    const auto is_taken = [&](const Published& old) {
      return old.value.key == value.key && old.here_only == message.here_only &&
             (!old.here_only || old.server == from.number);
    };
    if (std::any_of(published_.begin(), published_.end(), is_taken)) return PmixOutcome::kTaken;
    bytes += value.value.size();
  }
  if (bytes > most_) return PmixOutcome::kTooMuch;
  for (const PmixMessage::Value& value : message.values)
    published_.push_back({.value = {.key = value.key, .value = value.value, .owner = message.process},
                          .server = from.number,
                          .here_only = message.here_only,
                          .once = message.once,
                          .with_owner = message.with_owner});
  return PmixOutcome::kDone;
}

void PmixHub::withdraw(const PmixMessage& message) {
  std::erase_if(published_, [&](const Published& old) {
    const auto is_it = [&](const PmixMessage::Value& value) { return value.key == old.value.key; };
    return old.value.owner == message.process &&
           (message.values.empty() || std::any_of(message.values.begin(), message.values.end(), is_it));
  });
}

/// False: more is waited for.
bool PmixHub::look_up(std::uint64_t server, const PmixMessage& question, bool late) {
  PmixMessage out;
  out.word = PmixWord::kAnswer;
  out.number = question.number;
  for (const PmixMessage::Value& wanted : question.values)
    for (const Published& published : published_)
      if (published.value.key == wanted.key && (!published.here_only || published.server == server))
        out.values.push_back(published.value);
  if (out.values.size() < question.count && !late) return false;
  const bool short_of = out.values.size() < question.count;
  out.outcome = short_of ? PmixOutcome::kTimedOut : out.values.empty() ? PmixOutcome::kNone : PmixOutcome::kDone;
  std::erase_if(published_, [&](const Published& published) {
    const auto is_it = [&](const PmixMessage::Value& value) {
      return value.key == published.value.key && value.owner == published.value.owner;
    };
    return published.once && !short_of && std::any_of(out.values.begin(), out.values.end(), is_it);
  });
  send(server, out);
  return true;
}

void PmixHub::look_at_waiting(std::uint64_t now) {
  std::erase_if(waiting_, [&](const Waiting& waiting) {
    return look_up(waiting.server, waiting.question, now >= waiting.until_ns);
  });
}

std::uint64_t PmixHub::next_ns() const {
  std::uint64_t next = kNever;
  for (const Waiting& waiting : waiting_) next = std::min(next, waiting.until_ns);
  return next;
}

}  // namespace ashlar::mpiexec
