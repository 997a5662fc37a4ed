#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "components/launch/pmi/channel.h"
#include "components/launch/pmi/environment.h"

namespace ashlar::launch {

/// What a launcher says of the job and of its limits.
struct PmiFacts {
  std::uint32_t rank = 0, ranks = 0;
  std::uint32_t appnum = 0;
  std::uint32_t universe_size = 0;  // 0: it does not say
  std::string job;                  // its name for the job
  std::string node_map;             // PMI_process_mapping; "": it has none
  std::size_t longest_key = 0, longest_value = 0;
};

/// The dialect that the launcher speaks: PMI-1 or PMI-2. Keys and values are those of the wire, without blanks and
/// semicolons and within the launcher's limits. One thread at a time.
class PmiWire {
 public:
  explicit PmiWire(PmiChannel& channel) : channel_(channel) {}
  PmiWire(const PmiWire&) = delete;
  PmiWire& operator=(const PmiWire&) = delete;
  virtual ~PmiWire() = default;

  virtual const char* name() const = 0;
  /// Greets the launcher. *spoken: whether it speaks this dialect; if not, another one may be tried.
  virtual ashlar_result greet(const PmiTrace& trace, PmiFacts* facts, bool* spoken) = 0;
  /// Asks for the rest of `facts`, after greet().
  virtual ashlar_result describe(PmiFacts* facts) = 0;
  virtual ashlar_result put(const std::string& key, const std::string& value) = 0;
  /// ASHLAR_LAUNCH_NOT_FOUND: no rank has put it before the last fence.
  virtual ashlar_result get(const std::string& key, std::string* value) = 0;
  /// Enters a fence, whose end the channel notices.
  virtual ashlar_result enter_fence() = 0;
  virtual ashlar_result abort(int code) = 0;
  virtual ashlar_result finalize() = 0;

 protected:
  /// The first exchange, which is the same in both.
  ashlar_result agree(int version, int subversion, PmiMessage* met, bool* spoken);
  /// ask(), and the answer must not be a refusal.
  ashlar_result demand(const PmiMessage& question, const char* answer_name, PmiMessage* answer);
  PmiChannel& channel_;
};

std::unique_ptr<PmiWire> make_pmi1(PmiChannel& channel);
std::unique_ptr<PmiWire> make_pmi2(PmiChannel& channel);

}  // namespace ashlar::launch
