#include "mpiexec/info/variables.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <string_view>

#include "framework/base/error_class.h"
#include "framework/base/failure.h"
#include "framework/param/suggest.h"
#include "framework/plugin/records.h"
#include "mpiexec/text.h"

namespace ashlar::info {
namespace {

using mpiexec::below;
using mpiexec::text;
using plugin::json_string;
using Ranks = std::vector<RunningJob::RankVariables>;

constexpr std::size_t kColumns = 6;  // ranks that have a column each

/// The value of each rank that has answered, in the order of the ranks; "" where one has none.
struct Row {
  std::string name;
  std::vector<std::string> values;
};

Status rows_of(const Ranks& ranks, const std::string& prefix, std::vector<Row>* rows) {
  std::size_t answers = 0;
  std::map<std::string, std::size_t, std::less<>> places;
  param::Suggestion meant(prefix);
  for (const RunningJob::RankVariables& rank : ranks) {
    if (!rank.answered) continue;
    ++answers;
    for (const plugin::Variables::Pvar& pvar : rank.variables.pvars) {
      if (!below(pvar.name, prefix)) {
        meant.consider(pvar.name);
        meant.consider(std::string_view(pvar.name).substr(0, pvar.name.rfind('.')));
        continue;
      }
      const auto [at, fresh] = places.try_emplace(pvar.name, rows->size());
      if (fresh) rows->push_back({.name = pvar.name, .values = {}});
      Row& row = (*rows)[at->second];
      row.values.resize(answers - 1);
      row.values.push_back(pvar.value);
    }
  }
  for (Row& row : *rows) row.values.resize(answers);
  if (answers == 0) {
    const std::string why = text("rank %u: %s", ranks[0].rank, ranks[0].silence.c_str());
    return fail(kErrOther, "running.silent", {{"ranks", ranks.size()}, {"lower", why}});
  }
  if (rows->empty())
    return fail(kErrArg, "info.nothing_listed", {{"suggestion", meant.best()}, {"prefix", mpiexec::brief(prefix)}});
  return {};
}

bool as_number(const std::string& value, double* number) {
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), *number);
  return error == std::errc() && end == value.data() + value.size() && !value.empty();
}

std::string shown(const std::string& value) { return value.empty() ? "?" : value; }

/// "12 (rank 3)"
std::string at_rank(const std::string& value, std::uint32_t rank) { return text("%s (rank %u)", value.c_str(), rank); }

std::string summary(const Row& row, const std::vector<std::uint32_t>& numbers) {
  std::size_t least = 0, most = 0, known = 0;
  double sum = 0, low = 0, high = 0;
  std::map<std::string, std::size_t> words;
  for (std::size_t i = 0; i < row.values.size(); ++i) {
    double value = 0;
    if (!as_number(row.values[i], &value)) {
      ++words[shown(row.values[i])];
      continue;
    }
    if (known == 0 || value < low) least = i, low = value;
    if (known == 0 || value > high) most = i, high = value;
    sum += value;
    ++known;
  }
  std::string out;
  if (known != 0)
    out = text("%22s %14.6g %22s", at_rank(row.values[least], numbers[least]).c_str(), sum / static_cast<double>(known),
               at_rank(row.values[most], numbers[most]).c_str());
  for (const auto& [word, count] : words) out += text("  %s on %zu ranks", word.c_str(), count);
  return out;
}

std::string heading(const std::vector<std::uint32_t>& numbers) {
  std::string out = text("%-40s", "variable");
  if (numbers.size() > kColumns) return out + text("%22s %14s %22s\n", "least", "mean", "most");
  for (const std::uint32_t rank : numbers) out += text(" %14s", text("rank %u", rank).c_str());
  return out + "\n";
}

std::string silent_ranks(const Ranks& ranks) {
  std::string out;
  for (const RunningJob::RankVariables& rank : ranks)
    if (!rank.answered) out += text("rank %u does not answer: %s\n", rank.rank, rank.silence.c_str());
  return out;
}

}  // namespace

Status values_text(const Ranks& ranks, const std::string& prefix, std::string* out) {
  std::vector<Row> rows;
  ASHLAR_TRY(rows_of(ranks, prefix, &rows));
  std::vector<std::uint32_t> numbers;
  bool unread = false;
  for (const RunningJob::RankVariables& rank : ranks)
    if (rank.answered) numbers.push_back(rank.rank);
  *out = heading(numbers);
  for (const Row& row : rows) {
    *out += text("%-40s", row.name.c_str());
    for (const std::string& value : row.values) unread = unread || value.empty();
    if (numbers.size() > kColumns) {
      *out += summary(row, numbers) + "\n";
      continue;
    }
    for (const std::string& value : row.values) *out += text(" %14s", shown(value).c_str());
    *out += "\n";
  }
  if (unread) *out += "?: reading it takes a lock that a thread of the rank may hold, or the rank does not have it\n";
  *out += silent_ranks(ranks);
  return {};
}

Status values_json(const RunningJob& job, const Ranks& ranks, const std::string& prefix, std::string* out) {
  std::vector<Row> rows;
  ASHLAR_TRY(rows_of(ranks, prefix, &rows));
  *out = "{\"job_id\":" + json_string(job.job_id()) + ",\"ranks\":[";
  bool first = true;
  for (const RunningJob::RankVariables& rank : ranks) {
    *out += text("%s\n {\"rank\":%u,\"pid\":%u,\"answered\":%s", first ? "" : ",", rank.rank, rank.pid,
                 rank.answered ? "true" : "false");
    first = false;
    if (!rank.answered) {
      *out += ",\"because\":" + json_string(rank.silence) + "}";
      continue;
    }
    if (rank.variables.dropped != 0) *out += text(",\"left_out\":%u", rank.variables.dropped);
    *out += ",\"variables\":{";
    bool first_value = true;
    for (const plugin::Variables::Pvar& pvar : rank.variables.pvars) {
      if (!below(pvar.name, prefix)) continue;
      double number = 0;
      *out += (first_value ? "" : ",") + json_string(pvar.name) + ":" +
              (pvar.value.empty()               ? "null"
               : as_number(pvar.value, &number) ? pvar.value
                                                : json_string(pvar.value));
      first_value = false;
    }
    *out += "},\"program_settings\":{";
    first_value = true;
    for (const auto& [key, value] : rank.variables.program_settings) {
      *out += (first_value ? "" : ",") + json_string(key) + ":" + json_string(value);
      first_value = false;
    }
    *out += "}}";
  }
  *out += "\n]}\n";
  return {};
}

}  // namespace ashlar::info
