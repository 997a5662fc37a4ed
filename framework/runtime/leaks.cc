#include "framework/runtime/leaks.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/catalogue.h"
#include "framework/base/hash.h"
#include "framework/comm/inter_exchange.h"
#include "framework/datatype/datatype.h"
#include "framework/object/comm.h"
#include "framework/object/leaks.h"
#include "framework/p2p/setup.h"
#include "framework/progress/request.h"
#include "framework/runtime/call_site.h"
#include "framework/runtime/process.h"
#include "framework/runtime/unreceived.h"

namespace ashlar::runtime {
namespace {

constexpr std::size_t kMostLines = 20, kMostNames = 3;

struct Words {
  const char *one, *many;
};
Words words_for(const leaks::Handle& handle) {
  if (!handle.object) return {"attribute key", "attribute keys"};
  switch (handle.kind) {
    case Kind::kComm:
      return {"communicator", "communicators"};
    case Kind::kGroup:
      return {"group", "groups"};
    case Kind::kDatatype:
      return {"datatype", "datatypes"};
    case Kind::kRequest:
      return {"request", "requests"};
    case Kind::kReduceOp:
      return {"reduction operation", "reduction operations"};
    case Kind::kErrhandler:
      return {"error handler", "error handlers"};
    case Kind::kInfo:
      return {"info object", "info objects"};
    case Kind::kMessage:
      return {"matched message", "matched messages"};
    case Kind::kSession:
      return {"session", "sessions"};
    case Kind::kWin:
      return {"window", "windows"};
    case Kind::kFile:
      return {"file", "files"};
  }
  return {"object", "objects"};
}

std::string name_of(const leaks::Handle& handle) {
  if (!handle.object) return "";
  if (handle.kind == Kind::kComm) return static_cast<const Comm*>(handle.object)->name.given();
  if (handle.kind == Kind::kDatatype) return static_cast<const Datatype*>(handle.object)->name();
  return "";
}

/// What an operation that was never completed waits for.
std::string about(const leaks::Handle& handle) {
  if (!handle.object || handle.kind != Kind::kRequest) return "";
  const auto& request = *static_cast<const Request*>(handle.object);
  if (!request.active()) return request.persistent() ? "persistent" : "complete, but never waited for";
  char text[256] = "";
  request.ops->describe(request, text, sizeof text);
  return text;
}

bool still_held(const leaks::Handle& handle) {
  if (!handle.object) return true;
  if (handle.kind == Kind::kRequest) {
    const auto& request = *static_cast<const Request*>(handle.object);
    return (request.flags & Request::kHeld) != 0 && !p2p::is_constant(request);
  }
  return handle.kind != Kind::kDatatype || !static_cast<const Datatype*>(handle.object)->is_predefined();
}

/// Objects of sessions: with the last of these, nothing can be done with them any more.
bool ends_with_sessions(const leaks::Handle& handle) {
  return handle.object && (handle.kind == Kind::kComm || handle.kind == Kind::kGroup || handle.kind == Kind::kRequest ||
                           handle.kind == Kind::kMessage || handle.kind == Kind::kWin || handle.kind == Kind::kFile);
}

/// Handles of one kind that one line of the program got.
struct Entry {
  Words words;
  const leaks::Handle* first;
  std::size_t count = 0;
  std::vector<std::string> names;
  std::string about;
};

struct Account {
  std::string objects, command;
  std::string alike;  // of `objects`, what ranks that forget the same have in common
};

/// Without what the object itself has to say, which names ranks.
std::string line_of(const Entry& entry, const CallSite& site) {
  std::string line = std::to_string(entry.count) + " " + (entry.count == 1 ? entry.words.one : entry.words.many);
  std::string names;
  for (const std::string& name : entry.names) names += (names.empty() ? " ('" : ", '") + name + "'";
  if (!names.empty()) line += names + (entry.names.size() < kMostNames ? ")" : ", ...)");
  return line + " of " + entry.first->call + " at " + to_text(site);
}

Account account_of(const std::vector<leaks::Handle>& handles) {
  std::vector<Entry> entries;
  for (const leaks::Handle& handle : handles) {
    auto same = std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) {
      return entry.first->kind == handle.kind && !entry.first->object == !handle.object &&
             entry.first->caller == handle.caller && entry.first->call == handle.call;
    });
    if (same == entries.end()) {
      entries.push_back(Entry{words_for(handle), &handle, 0, {}, about(handle)});
      same = std::prev(entries.end());
    }
    ++same->count;
    if (const std::string name = name_of(handle); !name.empty() && same->names.size() < kMostNames)
      same->names.push_back(name);
  }
  Account account;
  std::map<std::string, std::string> places;  // per file
  for (std::size_t i = 0; i < entries.size() && i < kMostLines; ++i) {
    const CallSite site = call_site(entries[i].first->caller);
    char place[32];
    std::snprintf(place, sizeof place, " 0x%zx", site.place);
    if (!site.file.empty()) places[site.file] += place;
    const std::string line = line_of(entries[i], site);
    account.alike += line + "\n";
    account.objects += (i > 0 ? "\n  " : "") + line + (entries[i].about.empty() ? "" : ": " + entries[i].about);
  }
  if (entries.size() > kMostLines)
    account.objects += "\n  and those of " + std::to_string(entries.size() - kMostLines) + " more lines";
  for (const auto& [file, list] : places)
    account.command += (account.command.empty() ? "addr2line -Cpfe " : "; addr2line -Cpfe ") + file + list;
  return account;
}

std::int64_t hash_of(const std::string& text) {
  return static_cast<std::int64_t>(Hash::of(text) | 1);  // 0: nothing to tell
}

/// "ranks 0-3, 7" of those whose word is `word`.
std::string ranks_with(const std::vector<std::int64_t>& words, std::int64_t word) {
  std::string text;
  for (std::size_t r = 0; r < words.size(); ++r) {
    if (words[r] != word) continue;
    std::size_t last = r;
    while (last + 1 < words.size() && words[last + 1] == word) ++last;
    text += (text.empty() ? "" : ", ") + std::to_string(r) + (last > r ? "-" + std::to_string(last) : "");
    r = last;
  }
  return text;
}

}  // namespace

void report_leaks(Process& process, Ending ending) {
  const auto wanted = [ending](const leaks::Handle& handle) {
    return still_held(handle) && (ending != Ending::kSessions || ends_with_sessions(handle));
  };
  const std::vector<leaks::Handle> handles = leaks::held(wanted, true);
  const Account account = account_of(handles);
  std::string when = ending == Ending::kWorld      ? "at MPI_Finalize"
                     : ending == Ending::kSessions ? "when the last session ended"
                                                   : "at the end of the process";
  bool ours = !handles.empty();
  if (ending == Ending::kWorld && process.world->size > 1) {
    // Most ranks of a program forget the same: the first of them speaks for all.
    const std::int64_t mine = ours ? hash_of(account.alike) : 0;
    std::vector<std::int64_t> all;
    if (comm::gather_words(*process.world, &mine, 1, &all).ok() && ours) {
      ours = std::find(all.begin(), all.end(), mine) - all.begin() == process.world->rank;
      if (std::count(all.begin(), all.end(), mine) > 1) when += ", on each of the ranks " + ranks_with(all, mine);
    }
  }
  if (ending == Ending::kWorld) report_unreceived(process, handles);
  if (!ours) return;
  const std::string what =
      handles.size() == 1 ? "1 MPI object was" : std::to_string(handles.size()) + " MPI objects were";
  const auto& [objects, command, alike] = account;
  const auto m =
      catalogue::message("check.leaks", {{"what", what}, {"when", when}, {"objects", objects}, {"command", command}});
  process.reporter.notice(1, m.id, m.paragraph());
}

}  // namespace ashlar::runtime
