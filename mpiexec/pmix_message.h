#pragma once
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "mpiexec/frames.h"

// What the PMIx servers of a job and the hub in mpiexec tell each other, over connections as ranks have them
// (control.h). Values are opaque here: the hub knows no PMIx.
namespace ashlar::mpiexec {

/// A process as PMIx names it: the job, and its rank there.
struct PmixProcess {
  std::string space;
  std::uint32_t rank = 0;
  auto operator<=>(const PmixProcess&) const = default;
};
/// In the place of a rank: all ranks of the job. PMIX_RANK_WILDCARD.
inline constexpr std::uint32_t kWholeJob = ~std::uint32_t{0} - 1;

enum class PmixWord : std::uint16_t {
  // A server says
  kHello = 1,  // first: `processes` are here, of a job of `count` ranks
  kEnded,      // the process has ended
  kJoin,       // `processes` fence, connect or disconnect (`what`), those that are here have come; with data
  kFetch,      // what has the process published? Of a whole job: what is it?
  kFetched,    // the answer to kWanted
  kPublish,    // the process publishes `values`
  kLookUp,     // the keys of `values`; `count` of them are waited for, for `seconds` (0: for ever)
  kWithdraw,   // the keys of `values`, which the process has published; none: all
  kTell,       // an event: `status` is its code, the process its source
  kExpected,   // a job of this name has been started, and answers soon; `count` 0: it is over
  // The hub says
  kAnswer = 64,  // to `number`
  kWanted,       // `number` is to come back with what the process has published
  kTold          // an event
};

enum class PmixOutcome : std::uint32_t { kDone, kPartial, kNone, kTaken, kTooMuch, kTimedOut };

struct PmixMessage {
  struct Value {
    std::string key, value;
    PmixProcess owner;
  };
  PmixWord word{};
  std::uint64_t number = 0;  // a question's, of its server
  PmixOutcome outcome{};
  std::int32_t status = 0;  // as PMIx has it
  std::uint32_t count = 0, seconds = 0;
  char what = 0;
  bool here_only = false;   // of a published value: for processes of the same host
  bool once = false;        // it is gone once it has been looked up
  bool with_owner = false;  // it is gone with the process
  PmixProcess process;
  std::vector<PmixProcess> processes;
  std::vector<Value> values;
  std::string data;
};

template <class Archive>
void fields(Archive& a, PmixProcess& p) {
  a(p.space, p.rank);
}
template <class Archive>
void fields(Archive& a, PmixMessage::Value& v) {
  a(v.key, v.value, v.owner);
}
template <class Archive>
void fields(Archive& a, PmixMessage& m) {
  a(m.word, m.number, m.outcome, m.status, m.count, m.seconds, m.what, m.here_only, m.once, m.with_owner, m.process,
    m.processes, m.values, m.data);
}

/// The message behind the number of its bytes.
inline std::string bytes_of(const PmixMessage& message) {
  const std::string body = packed(message);
  return packed(std::uint64_t{body.size()}) + body;
}

/// Takes the first message of what has arrived. False: it is not whole yet, or, with `broken`, it is none; `most` is
/// the most bytes that one may have.
inline bool take(std::string* arrived, std::uint64_t most, PmixMessage* message, bool* broken) {
  std::uint64_t length = 0;
  if (arrived->size() < sizeof length) return false;
  std::memcpy(&length, arrived->data(), sizeof length);
  *broken = length > most;
  if (*broken || arrived->size() - sizeof length < length) return false;
  *message = {};
  *broken = !Unpacker(std::string_view(*arrived).substr(sizeof length, length))(*message).done();
  arrived->erase(0, sizeof length + length);
  return !*broken;
}

}  // namespace ashlar::mpiexec
