#pragma once
#include <cstdint>
#include <string>

/// Numbers for people.
namespace ashlar::recording {

[[gnu::format(printf, 1, 2)]] std::string text(const char* format, ...);

std::string time_text(double seconds);             // "1.24 s", "870 us"
std::string size_text(double bytes);               // "1.2 MiB"
std::string count_text(std::uint64_t count);       // "1,234,567"
std::string percent_text(double part);             // of 1: "12.3 %"
std::string class_text(std::uint32_t size_class);  // "to 4 KiB"

}  // namespace ashlar::recording
