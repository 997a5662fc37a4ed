#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/base/status.h"
#include "framework/param/job_settings.h"
#include "framework/param/parse.h"
#include "framework/param/schema.h"
#include "framework/param/sources.h"
#include "framework/param/text_pool.h"

namespace ashlar::param {

/// One place that wanted to set a key. All texts live as long as the store.
struct Setting {
  const char* key;
  const char* text;
  const char* origin;          // "/etc/ashlar/site.yaml:12", "environment ASHLAR_coll", "--set coll=^shm"
  const char* when = "";       // condition.h's form
  const char* lost = nullptr;  // null: this one is in force; otherwise why not
  Layer layer = Layer::builtin;
  bool lock = false;
  bool applies = true;  // false: its `when` does not hold here
};

struct Problem {
  bool error;  // otherwise a notice
  std::string text;
};

/// The value in force of one key.
struct Value {
  const char* text;
  const char* origin;  // "built in" for the fallback
  Layer layer;
  bool lock;
};

/// All parameters of a process: what may be set (tables), what was set, where, and what won.
/// Filled by `load` (launcher, singleton, tools) or by `adopt` (a rank of our launcher), which forget what was there.
/// Set-up path; not thread-safe except for reads after that.
class Store {
 public:
  /// Makes keys known. Call before load. The table's rows are borrowed for the life of the store.
  void declare(const Table& table);
  void declare(std::span<const Table> tables);

  /// Merges everything in `sources`. Fails with MPI_ERR_ARG, naming the first of them, when a value cannot be read, a
  /// file is not YAML, or a key of the command line does not exist; `problems()` has them all, notices too. Every
  /// setting without fault is in force even then.
  Status load(const Sources& sources);
  /// Texts that a terminal may show. At most kMostProblems, or as many as limit_problems said, and one that counts the
  /// rest.
  const std::vector<Problem>& problems() const { return problems_; }
  static constexpr std::size_t kMostProblems = 40;
  /// Before load. For a tool that checks a file: all of its mistakes.
  void limit_problems(std::size_t most) { most_problems_ = most; }
  /// Adds a notice to problems().
  void notice(std::string text) { problem(false, std::move(text)); }

  /// The merged result, winners and losers, as a compact text for the ranks.
  std::string serialize() const;
  /// Takes what `serialize` made. Needs no tables.
  Status adopt(std::string_view text);
  /// After adopt: merges those variables that the author of the text did not see (given to one rank only), at the
  /// environment's place. Needs the tables. Values that cannot be read are problems() and are left out.
  void merge_environment(const char* const* environment);
  /// Whether load or adopt has run.
  bool filled() const { return filled_; }

  /// The setting in force of `key`, or nullptr when the built-in value is.
  const Setting* find(std::string_view key) const;
  /// The value in force of a row whose key is `key`.
  Value value(std::string_view key, const ashlar_param& row) const;

  /// Fills `config` from `rows` (offsets into it); texts it points at live as long as the store. Fails with MPI_ERR_ARG
  /// naming key, value and origin.
  Status fill(std::string_view prefix, std::span<const ashlar_param> rows, void* config);
  Status fill(const Table& table, void* config) { return fill(table.prefix, table.rows, config); }

  /// What other processes of the job must have in common with this one: the values in force of all rows with
  /// ASHLAR_SCOPE_ALL_EQ that fill() has read so far, and what the caller adds.
  JobSettings& job_settings() { return job_settings_; }

  /// One declared key, read as its type: out is bool, std::int64_t, std::uint64_t (also bytes and nanoseconds), double,
  /// std::int32_t (choice) or const char*. Fails when the key does not exist or has another type.
  template <class T>
  Status get(std::string_view key, T* out) const;

  /// Sets a key at run time (MPI_T, tools). Fails when it does not exist, is constant or locked, is frozen by now, or
  /// does not take the value.
  Status set(std::string_view key, std::string_view text, const char* origin);
  /// Whether set() would take any value of `key` now. Fails as set() does.
  Status settable(std::string_view key) const;
  /// From now on rows with ASHLAR_PARAM_FROZEN cannot be set.
  void freeze() { frozen_ = true; }

  /// From now on explain() says that the owner of `key` uses `used` in place of the value in force, and why.
  void adjusted(std::string_view key, std::string_view used, std::string_view because);
  struct Adjustment {
    std::string key, used, because;
  };
  /// The listener for each adjustment that is new, on the thread of adjusted().
  void on_adjusted(std::function<void(const Adjustment&)> listener) { on_adjusted_ = std::move(listener); }
  /// What the owner of `key` uses instead, if it does. Any thread, as adjusted().
  std::optional<Adjustment> adjustment(std::string_view key) const;

  const Schema& schema() const { return schema_; }
  /// Every setting of `key`, the one in force first.
  std::vector<const Setting*> settings(std::string_view key) const;
  /// Winner and losers with their origins, conditions, locks, and what the key means; for an unknown key a sentence
  /// with what was probably meant.
  std::string explain(std::string_view key) const;

 private:
  struct Reading;
  void read_file(const SourceFile& file, const Sources& sources, Reading* reading);
  void read_environment(const char* const* environment, bool quiet_about_unknown);
  void add(std::string_view key, std::string_view text, std::string origin, Layer layer, bool lock,
           std::string_view when);
  void decide(Context& context);
  void forget();
  void problem(bool error, std::string text);
  const Row* require(std::string_view key, Status* status) const;

  Schema schema_;
  TextPool pool_;
  std::vector<Setting> settings_;  // sorted by key, the winner of each key first, once `decide` has run
  std::size_t decided_ = 0;        // so many of them are in that order
  std::vector<Problem> problems_;
  std::size_t most_problems_ = kMostProblems;
  std::size_t more_errors_ = 0, more_notices_ = 0;  // beyond kMostProblems: counted only
  JobSettings job_settings_;
  std::unique_ptr<std::mutex> adjusting_ = std::make_unique<std::mutex>();  // a store can be moved
  std::vector<Adjustment> adjustments_;                                     // guarded by adjusting_
  std::function<void(const Adjustment&)> on_adjusted_;
  bool filled_ = false;
  bool frozen_ = false;
};

}  // namespace ashlar::param
