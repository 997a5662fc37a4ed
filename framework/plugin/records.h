#pragma once
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/counter.h"
#include "framework/base/status.h"
#include "framework/plugin/pvar_row.h"

namespace ashlar::plugin {

/// One decision: what was considered, why each loser lost, and the setting that would change it.
struct Decision {
  std::string topic{}, subject{}, chosen{}, because{}, lost{}, setting{};
};

/// The decisions of this process, for `--explain` and for tools. Any thread.
class Records {
 public:
  /// Of each topic the first are kept, so that a program that decides for ever does not grow; one record says so.
  static constexpr std::size_t kMostOfTopic = 1024;
  /// The same, by the parameter plugin.records.
  void set_limit(std::size_t of_topic);
  void add(Decision decision);
  /// Those of `topic` (of all topics when it is empty), in the order they were made.
  std::vector<Decision> of(std::string_view topic) const;
  std::size_t size() const;
  /// plugin.records and its like; the block is a Records.
  static const std::span<const ashlar_pvar_row> pvar_rows;

 private:
  /// Written under the mutex, read by tools at any time.
  struct Counters {
    Counter kept, dropped, limit{kMostOfTopic};
  };
  template <auto word>
  static void read(const ashlar_pvar_row* row, const void* block, const void* object, std::uint64_t* values,
                   std::uint32_t count);
  static const ashlar_pvar_row kRows[];
  mutable std::mutex mutex_;
  std::vector<Decision> decisions_;
  Counters counters_;
  std::map<std::string, std::size_t, std::less<>> kept_;  // by topic
};

/// A paragraph per decision:
///   transport, peer 3: shm
///     because  same node; reads its memory directly
///     not      self: reaches only this process
///     change   transport = shm,self (from ./ashlar.yaml:2)
std::string to_text(const std::vector<Decision>& decisions);
std::string to_json(const Decision& decision);

/// `text` as a JSON string with its quotes.
std::string json_string(std::string_view text);

/// Whether `topics` ("all", "transport,coll") names `topic`.
bool wants(std::string_view topics, std::string_view topic);
/// Fails with MPI_ERR_ARG when `topics`, which `origin` set, names a topic that there is not.
Status check_topics(std::string_view topics, const char* origin);

}  // namespace ashlar::plugin
