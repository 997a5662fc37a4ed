#pragma once
#include <string>
#include <type_traits>
#include <vector>

#include "framework/base/status.h"
#include "framework/object/int_array.h"

/// What the stand-ins for the kernel's functions recorded.
namespace fake {

struct Call {
  std::string name;
  std::vector<long long> arguments;  // integers as they are, references and pointers as addresses, arrays as element 0
};
inline Call last;
inline int calls = 0;
inline ashlar::Status outcome;              // what every stand-in returns
inline void (*act)(const Call&) = nullptr;  // runs inside the call, to set results

template <class T>
long long value_of(const T& argument) {
  if constexpr (std::is_same_v<T, ashlar::IntArray>)
    return argument ? argument[0] : -1;
  else if constexpr (std::is_pointer_v<T>)
    return reinterpret_cast<long long>(argument);
  else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>)
    return static_cast<long long>(argument);
  else
    return reinterpret_cast<long long>(&argument);
}

template <class... Arguments>
ashlar::Status called(const char* name, const Arguments&... arguments) {
  last = {name, {value_of(arguments)...}};
  ++calls;
  if (act) act(last);
  return outcome;
}

}  // namespace fake
