#include "framework/mpit/cvar_values.h"

#include <algorithm>
#include <cstring>

#include "framework/param/parse.h"

namespace ashlar::mpit {
namespace {

template <class T>
void put(void* out, T value) {
  std::memcpy(out, &value, sizeof value);
}
template <class T>
T taken(const void* in) {
  T value;
  std::memcpy(&value, in, sizeof value);
  return value;
}

int put_text(std::string_view text, void* out, int count) {
  auto* const to = static_cast<char*>(out);
  const std::size_t length = std::min(text.size(), static_cast<std::size_t>(count) - 1);
  std::memcpy(to, text.data(), length);
  std::memset(to + length, 0, static_cast<std::size_t>(count) - length);
  return MPI_SUCCESS;
}

}  // namespace

MPI_Datatype datatype_of(ashlar_param_type type) {
  switch (type) {
    case ASHLAR_PARAM_BOOL:
    case ASHLAR_PARAM_ENUM:
      return MPI_INT;
    case ASHLAR_PARAM_I64:
      return MPI_COUNT;
    case ASHLAR_PARAM_F64:
      return MPI_DOUBLE;
    case ASHLAR_PARAM_STRING:
      return MPI_CHAR;
    default:
      return MPI_UNSIGNED_LONG_LONG;
  }
}

std::string describe(const ashlar_param& row) {
  std::string text = row.help;
  if (row.type == ASHLAR_PARAM_BYTES) text += " In bytes.";
  if (row.type == ASHLAR_PARAM_DURATION) text += " In nanoseconds.";
  if (const std::string range = param::range_in_words(row); !range.empty()) text += " From " + range + ".";
  if (row.flags & ASHLAR_PARAM_FROZEN) text += " Read once, when MPI is initialised.";
  if (row.scope == ASHLAR_SCOPE_ALL) text += " All processes of the job should have consistent values.";
  if (row.scope == ASHLAR_SCOPE_ALL_EQ) text += " All processes of the job must have the same value.";
  return text;
}

int put_value(const ashlar_param& row, std::string_view text, void* out, int count) {
  if (row.type == ASHLAR_PARAM_STRING) return put_text(text, out, count);
  param::Parsed parsed;
  if (!param::parse(row, text, &parsed).ok()) return MPI_T_ERR_INVALID;
  switch (row.type) {
    case ASHLAR_PARAM_BOOL:
      put<int>(out, parsed.flag);
      break;
    case ASHLAR_PARAM_ENUM:
      put<int>(out, parsed.choice);
      break;
    case ASHLAR_PARAM_I64:
      put<MPI_Count>(out, parsed.i64);
      break;
    case ASHLAR_PARAM_F64:
      put<double>(out, parsed.f64);
      break;
    default:
      put<unsigned long long>(out, parsed.u64);
  }
  return MPI_SUCCESS;
}

bool text_from(const ashlar_param& row, const void* in, int count, std::string* text) {
  param::Parsed parsed;
  parsed.type = row.type;
  switch (row.type) {
    case ASHLAR_PARAM_BOOL: {
      const int value = taken<int>(in);
      if (value != 0 && value != 1) return false;
      *text = value ? "true" : "false";
      return true;
    }
    case ASHLAR_PARAM_ENUM: {
      const int value = taken<int>(in);
      int most = 0;
      while (row.choices[most] != nullptr) ++most;
      if (value < 0 || value >= most) return false;
      *text = row.choices[value];
      return true;
    }
    case ASHLAR_PARAM_STRING: {
      const auto* const at = static_cast<const char*>(in);
      const std::size_t length = strnlen(at, static_cast<std::size_t>(count));
      if (length == static_cast<std::size_t>(count)) return false;
      text->assign(at, length);
      return true;
    }
    case ASHLAR_PARAM_I64:
      parsed.i64 = taken<MPI_Count>(in);
      break;
    case ASHLAR_PARAM_F64:
      parsed.f64 = taken<double>(in);
      break;
    default:
      parsed.u64 = taken<unsigned long long>(in);
  }
  *text = param::format(row, parsed);
  return true;
}

}  // namespace ashlar::mpit
