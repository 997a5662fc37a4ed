#include "framework/io/choice_record.h"

#include <array>
#include <cstdio>
#include <string>

#include "framework/io/file.h"
#include "framework/plugin/records.h"
#include "framework/progress/lane.h"

namespace ashlar::io {
namespace {

std::string text(const char* format, double value) {
  std::array<char, 64> out;
  std::snprintf(out.data(), out.size(), format, value);
  return out.data();
}

std::string microseconds(double ns) { return text(ns < 1e5 ? "%.1f us" : "%.0f us", ns / 1e3); }

std::string rate(const char* what, const Rate& one) {
  return std::string(what) + " takes " + microseconds(one.call) + " a piece and " +
         microseconds(one.byte * 1024 * 1024) + " a MiB";
}

}  // namespace

bool records_choices(const OpenFile& file) ASHLAR_NO_THREAD_SAFETY { return file.comm->lane->records != nullptr; }

void record_choice(OpenFile& file, const char* call, const Demand& demand, const Estimates& costs, const Rates& rates,
                   Way way, const char* not_together) ASHLAR_NO_THREAD_SAFETY {
  const bool together = costs.two_phase < cost::kForbidden, maps = costs.mapped < cost::kForbidden;
  Way& told = file.told[together ? 1 : 0][demand.writes ? 1 : 0];
  plugin::Records* const records = file.comm->lane->records;
  if (told == way || records == nullptr) return;
  told = way;
  const double gaps = demand.hull > demand.bytes ? 1 - demand.bytes / demand.hull : 0;
  const std::string because = text("%.0f bytes", demand.bytes) + text(" in about %.0f pieces", demand.pieces) +
                              text(", %.0f %% gaps; estimates: list ", 100 * gaps) + microseconds(costs.list) +
                              ", sieve " + microseconds(costs.sieve) +
                              (together ? ", two_phase " + microseconds(costs.two_phase) : std::string()) +
                              (maps ? ", mapped " + microseconds(costs.mapped) : std::string()) + "; by measurement " +
                              rate("a read", rates.read) + ", " + rate("a write", rates.write);
  records->add({.topic = "io",
                .subject = std::string(call) + " on '" + file.path + "'",
                .chosen = kWays[static_cast<int>(way)],
                .because = because,
                .lost = not_together != nullptr ? std::string("two_phase: ") + not_together : std::string(),
                .setting = together ? "io.way, io.collective_buffering (info key collective_buffering)"
                                    : "io.way (info keys romio_ds_read, romio_ds_write)"});
}

}  // namespace ashlar::io
