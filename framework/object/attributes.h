#pragma once
#include <mpi.h>

#include <cstdint>
#include <vector>

#include "framework/base/status.h"
#include "framework/object/object.h"

namespace ashlar {

/// A key under which values are cached on communicators, windows or datatypes (`of`).
struct Keyval {
  int id = 0;
  Kind of = Kind::kComm;
  std::int32_t references = 1;  // the user's key, and one per attached attribute
  bool freed = false;
  int deleting = 0;            // delete functions of this key that are running
  void (*copy)() = nullptr;    // MPI_Comm_copy_attr_function and its like; nullptr: do not copy
  void (*remove)() = nullptr;  // nullptr: nothing to do
  bool copy_is_dup = false;    // MPI_COMM_DUP_FN
  void* extra_state = nullptr;
};

/// Attributes attached to one object, in the order they were set.
class AttributeSet {
 public:
  struct Entry {
    Keyval* key;
    void* value;
    std::uint64_t number;  // of all attributes that were set in this process
    bool leaving = false;  // its delete function is running
  };
  std::vector<Entry> entries;
};

}  // namespace ashlar
