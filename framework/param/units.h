#pragma once
#include <cstdint>
#include <string_view>

namespace ashlar::param {

struct Unit {
  std::string_view name;
  std::uint64_t factor;
};

/// What may stand behind the number of a size. Decimal letters mean binary multiples, as every MPI user expects of
/// "64K"; kB, MB and GB are the decimal ones.
inline constexpr Unit kByteUnits[] = {
    {"", 1},           {"B", 1},        {"K", 1u << 10},    {"KiB", 1u << 10}, {"M", 1u << 20},
    {"MiB", 1u << 20}, {"G", 1u << 30}, {"GiB", 1u << 30},  {"T", 1ull << 40}, {"TiB", 1ull << 40},
    {"kB", 1000},      {"MB", 1000000}, {"GB", 1000000000}, {"k", 1u << 10},   {"m", 1u << 20},
    {"g", 1u << 30}};

/// Of a time, in nanoseconds. Only a zero needs none.
inline constexpr Unit kTimeUnits[] = {
    {"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000ull}, {"min", 60000000000ull}, {"h", 3600000000000ull}};

/// The words of a switch, in any case.
inline constexpr const char* kTrueWords[] = {"true", "yes", "on", "1"};
inline constexpr const char* kFalseWords[] = {"false", "no", "off", "0"};

}  // namespace ashlar::param
