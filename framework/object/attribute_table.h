#pragma once
#include "framework/base/status.h"
#include "framework/object/attributes.h"

/// Attribute caching (MPI-5.0, 7.7) for every class of object that has it: the rooms of these classes give the calls
/// their types. One lock guards all keys and sets. Callbacks run without it: they may call anything, and wait for other
/// threads that do. An attribute whose delete function is running is still there to be read, but no other call
/// deletes it.
namespace ashlar::attribute {

/// The object in question.
struct Holder {
  Kind of;
  const char* class_name;  // "communicators"
  const char* name;        // of this one, for sentences
  AttributeSet* set;
  void* handle;  // what the callbacks get
};

using Function = void (*)();  // the copy or delete function of the class

/// `copy` nullptr: do not copy; `copy_is_dup`: copy the value as it is. `remove` nullptr: nothing to do.
Status create_keyval(Kind of, Function copy, bool copy_is_dup, Function remove, void* extra_state, int* keyval);
Status free_keyval(Kind of, const char* class_name, int* keyval);

Status set(const Holder& holder, int keyval, void* value);
Status get(const Holder& holder, int keyval, void* value, int* flag);
Status remove(const Holder& holder, int keyval);

/// For duplication: calls the copy functions in the order the attributes were set; stops at the first that fails and
/// returns its code as the class.
Status copy_all(const Holder& from, const Holder& to);
/// Calls the delete functions in the reverse order of setting; stops at the first that fails.
Status delete_all(const Holder& holder);

}  // namespace ashlar::attribute
