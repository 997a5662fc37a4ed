#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "framework/param/table.h"
#include "framework/param/text_pool.h"

namespace ashlar::param {

struct Row {
  const char* key;  // "transport.shm.eager_limit"
  const ashlar_param* spec;
};

/// All keys that exist, of loaded and unloaded components alike. Only tools and the process that merges the sources
/// need one: an ordinary rank takes merged values and never builds this index.
class Schema {
 public:
  /// A table that was added already is not added again.
  void add(const Table& table);
  std::size_t size() const { return rows_.size(); }
  /// In order of declaration; positions never change (they number MPI_T's control variables).
  const std::vector<Row>& rows() const { return rows_; }
  const Row* find(std::string_view key) const;
  /// The row whose key a synonym stands for, or `row` itself.
  const Row* target(const Row* row) const;
  /// By the part of an environment name behind "ASHLAR_": dots written as underscores, any case.
  const Row* find_environment(std::string_view name) const;
  /// The existing key that was probably meant by `key`, or "".
  std::string_view nearest(std::string_view key) const;
  std::string_view nearest_environment(std::string_view name) const;
  /// What to say behind "there is no parameter 'key'": what was probably meant, or what the group of that name holds.
  std::string hint(std::string_view key) const;
  /// The whole sentence.
  std::string unknown(std::string_view key) const;

 private:
  std::vector<Row> rows_;
  mutable std::vector<const Row*> by_key_;  // rebuilt when rows were added
  void index() const;
  TextPool pool_;
};

/// "ASHLAR_transport_shm_eager_limit".
std::string environment_name(std::string_view key);

}  // namespace ashlar::param
