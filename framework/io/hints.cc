#include "framework/io/hints.h"

#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "framework/comm/outside.h"
#include "framework/io/engine.h"
#include "framework/object/info.h"
#include "framework/object/info_api.h"
#include "framework/plugin/records.h"
#include "framework/progress/lane.h"

namespace ashlar::io {
namespace {

constexpr std::uint32_t kUsualPermissions = 0666;
constexpr std::uint64_t kLeastWindow = 4096, kMostWindow = std::uint64_t{1} << 30;
constexpr std::uint64_t kMostAggregators = 1 << 20;

const std::string* find(const OpenFile& file, const char* key) {
  for (const auto& [name, value] : file.kept)
    if (name == key) return &value;
  return nullptr;
}

void keep(OpenFile& file, const std::string& key, const std::string& value) {
  for (auto& [name, old] : file.kept) {
    if (name != key) continue;
    old = value;
    return;
  }
  file.kept.emplace_back(key, value);
}

bool read_number(const std::string& text, int base, std::uint64_t* value) {
  if (text.empty() || text[0] < '0' || text[0] > '9') return false;
  char* end = nullptr;
  *value = std::strtoull(text.c_str(), &end, base);
  return *end == '\0';
}

bool read_bytes(const std::string& text, std::uint64_t* out) {
  std::uint64_t bytes = 0;
  if (!read_number(text, 10, &bytes)) return false;
  *out = std::clamp(bytes, kLeastWindow, kMostWindow);
  return true;
}

bool read_switch(std::string_view text, Switch* out) {
  if (text == "true" || text == "enable") {
    *out = Switch::kOn;
  } else if (text == "false" || text == "disable") {
    *out = Switch::kOff;
  } else if (text == "automatic" || text == "auto") {
    *out = Switch::kAuto;
  } else {
    return false;
  }
  return true;
}

const char* name_of(Switch value) {
  return value == Switch::kOn ? "enable" : value == Switch::kOff ? "disable" : "automatic";
}

enum class Taken { kYes, kNo, kUnknown };
Taken said(bool taken) { return taken ? Taken::kYes : Taken::kNo; }

Taken take(OpenFile& file, const std::string& key, const std::string& value) {
  Hints& hints = file.hints;
  std::uint64_t number = 0;
  if (key == "access_style" || (key == "file_perm" && read_number(value, 8, &number))) {
    keep(file, key, value);
    return Taken::kYes;
  }
  if (key == "file_perm") return Taken::kNo;
  if (key == "ind_rd_buffer_size") return said(read_bytes(value, &hints.sieve_read_bytes));
  if (key == "ind_wr_buffer_size") return said(read_bytes(value, &hints.sieve_write_bytes));
  if (key == "cb_buffer_size") return said(read_bytes(value, &hints.window_bytes));
  if (key == "romio_cb_read") return said(read_switch(value, &hints.reads_together));
  if (key == "romio_cb_write") return said(read_switch(value, &hints.writes_together));
  if (key == "romio_ds_read") return said(read_switch(value, &hints.sieve_reads));
  if (key == "romio_ds_write") return said(read_switch(value, &hints.sieve_writes));
  if (key == "collective_buffering") {
    const bool taken = read_switch(value, &hints.reads_together);
    if (taken) hints.writes_together = hints.reads_together;
    return said(taken);
  }
  if (key == "cb_nodes") {
    if (!read_number(value, 10, &number) || number == 0) return Taken::kNo;
    hints.aggregators = static_cast<std::uint32_t>(std::min(number, kMostAggregators));
    return Taken::kYes;
  }
  return Taken::kUnknown;
}

/// The processes that move windows where nothing says how many: all of a node, one of each where there are several.
std::uint64_t usual_aggregators(const OpenFile& file) {
  if (file.shared != nullptr) return static_cast<std::uint64_t>(file.comm->size);
  const std::vector<std::uint32_t> nodes = comm::nodes_of(*file.comm);
  return std::set<std::uint32_t>(nodes.begin(), nodes.end()).size();
}

void begin_with_parameters(OpenFile& file) {
  const Config config = Engine::current().config.get();
  const auto together = static_cast<Switch>(config.collective_buffering);
  file.hints = {.sieve_read_bytes = config.sieve_bytes,
                .sieve_write_bytes = config.sieve_bytes,
                .window_bytes = config.cb_buffer_size,
                .aggregators = static_cast<std::uint32_t>(config.cb_nodes),
                .reads_together = together,
                .writes_together = together};
}

}  // namespace

Status read_hints(const Info* info, OpenFile* file, std::string* told) {
  if (file->hints.window_bytes == 0) begin_with_parameters(*file);
  if (info == nullptr) return {};
  for (const auto& [key, value] : info->entries) {
    const Taken taken = take(*file, key, value);
    if (told == nullptr) continue;
    if (!told->empty()) *told += "; ";
    *told += key + " = " + value +
             (taken == Taken::kYes  ? ": taken"
              : taken == Taken::kNo ? ": not a value of this key"
                                    : ": means nothing here");
  }
  return {};
}

void record_hints(const OpenFile& file, const char* call, const std::string& told) {
  Lane& lane = *file.comm->lane;
  const LaneGuard guard(lane.lock);
  if (lane.records == nullptr) return;
  lane.records->add({.topic = "io",
                     .subject = std::string(call) + " of '" + file.path + "'",
                     .chosen = file.driver,
                     .because = told.empty() ? "no hints were given" : "hints: " + told,
                     .setting = "io, and the parameters behind the keys (docs/files.md)"});
}

Status write_hints(const OpenFile& file, Info& info) {
  const Hints& hints = file.hints;
  const auto number = [&info](const char* key, std::uint64_t value) {
    return info::set(&info, key, std::to_string(value).c_str());
  };
  for (const auto& [key, value] : file.kept) ASHLAR_TRY(info::set(&info, key.c_str(), value.c_str()));
  // A path that is longer than values of info objects may be is left out.
  if (file.path.size() < MPI_MAX_INFO_VAL) ASHLAR_TRY(info::set(&info, "filename", file.path.c_str()));
  const auto ranks = static_cast<std::uint64_t>(file.comm->size);
  ASHLAR_TRY(number("nb_proc", ranks));
  ASHLAR_TRY(number("ind_rd_buffer_size", hints.sieve_read_bytes));
  ASHLAR_TRY(number("ind_wr_buffer_size", hints.sieve_write_bytes));
  ASHLAR_TRY(number("cb_buffer_size", hints.window_bytes));
  ASHLAR_TRY(number("cb_nodes", hints.aggregators == 0 ? usual_aggregators(file)
                                                       : std::min<std::uint64_t>(hints.aggregators, ranks)));
  const bool together = hints.reads_together != Switch::kOff || hints.writes_together != Switch::kOff;
  ASHLAR_TRY(info::set(&info, "collective_buffering", together ? "true" : "false"));
  ASHLAR_TRY(info::set(&info, "romio_cb_read", name_of(hints.reads_together)));
  ASHLAR_TRY(info::set(&info, "romio_cb_write", name_of(hints.writes_together)));
  ASHLAR_TRY(info::set(&info, "romio_ds_read", name_of(hints.sieve_reads)));
  ASHLAR_TRY(info::set(&info, "romio_ds_write", name_of(file.shared != nullptr ? hints.sieve_writes : Switch::kOff)));
  return info::set(&info, "ashlar_driver", file.driver);
}

std::uint32_t permissions_of(const OpenFile& file) {
  std::uint64_t permissions = kUsualPermissions;
  if (const std::string* const value = find(file, "file_perm"); value != nullptr) read_number(*value, 8, &permissions);
  return static_cast<std::uint32_t>(permissions & 07777);
}

}  // namespace ashlar::io
