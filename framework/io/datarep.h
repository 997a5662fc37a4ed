#pragma once
#include <mpi.h>

#include <cstddef>
#include <deque>
#include <mutex>
#include <string>

#include "framework/base/status.h"
#include "framework/datatype/data_view.h"
#include "framework/datatype/datatype.h"
#include "framework/object/object.h"

namespace ashlar::io {

/// A data representation (MPI-5.0, 14.5): how the values of basic datatypes lie in a file.
struct Datarep {
  enum class Kind : unsigned char { kNative, kExternal, kUser };
  std::string name;
  Kind kind = Kind::kNative;
  // Of the user; the small or the large form of the conversions, nullptr: none that way.
  MPI_Datarep_conversion_function *read = nullptr, *write = nullptr;
  MPI_Datarep_conversion_function_c *read_c = nullptr, *write_c = nullptr;
  MPI_Datarep_extent_function* extent = nullptr;
  void* state = nullptr;

  /// Data in the file has the form of data in memory.
  bool native() const { return kind == Kind::kNative; }
  bool converts(bool writes) const {
    return kind == Kind::kExternal || (kind == Kind::kUser && (writes ? write != nullptr || write_c != nullptr
                                                                      : read != nullptr || read_c != nullptr));
  }
};

/// All that the process knows: those of the standard, and those that the program registers, which stay until its end.
/// Any thread.
class Datareps {
 public:
  Datareps();
  /// Fails with MPI_ERR_UNSUPPORTED_DATAREP.
  Status find(const char* name, const Datarep** out);
  /// Fails with MPI_ERR_DUP_DATAREP.
  Status add(Datarep wanted);

 private:
  std::mutex mutex_;
  std::deque<Datarep> all_;  // views point into it: nothing is moved
};

/// The datatype as it lies in a file: what is counted in items of its parts is scaled to the sizes they have there,
/// what is counted in bytes is taken as it is (MPI-5.0, 14.5.1). Committed. The datatype itself where nothing differs.
Status file_form(const Datarep& rep, Datatype& type, Ref<Datatype>* out);

/// Bytes in the file of `count` items of `type`.
Status file_bytes(const Datarep& rep, const Datatype& type, MPI_Count count, MPI_Count* bytes);

/// Whole elements of a buffer that were converted.
struct Converted {
  MPI_Count elements = 0;
  MPI_Count memory = 0, file = 0;  // their bytes
};

/// Converts elements of `buffer` from `first` on to the contiguous form of a file, as many as `room` bytes of it hold.
/// None: the next one is larger.
Status to_file(const Datarep& rep, const DataView& buffer, MPI_Count first, std::byte* file, MPI_Count room,
               Converted* out);
/// The reverse, as many as the `bytes` bytes have.
Status from_file(const Datarep& rep, const DataView& buffer, MPI_Count first, const std::byte* file, MPI_Count bytes,
                 Converted* out);

}  // namespace ashlar::io
