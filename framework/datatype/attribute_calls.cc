// Attributes on datatypes (MPI-5.0, 7.7.4): the calls on the table of all attributes.
#include "framework/datatype/api.h"
#include "framework/datatype/contents.h"
#include "framework/object/attribute_table.h"
#include "framework/object/handle.h"

namespace ashlar::datatype {
namespace {

attribute::Holder holder_of(Datatype& type) {
  return {Kind::kDatatype, "datatypes", type.described(), &Builder::cold_of(type).attributes,
          to_handle<MPI_Datatype>(&type)};
}

bool has_attributes(const Datatype& type) {
  const AttributeSet* set = Builder::attributes(type);
  return set && !set->entries.empty();
}

}  // namespace

Status create_keyval(MPI_Type_copy_attr_function* copy, MPI_Type_delete_attr_function* remove, int* keyval,
                     void* extra_state) {
  const bool is_dup = copy == MPI_TYPE_DUP_FN;
  return attribute::create_keyval(Kind::kDatatype, is_dup ? nullptr : reinterpret_cast<attribute::Function>(copy),
                                  is_dup, reinterpret_cast<attribute::Function>(remove), extra_state, keyval);
}

Status free_keyval(int* keyval) { return attribute::free_keyval(Kind::kDatatype, "datatypes", keyval); }

Status set_attr(Datatype& type, int keyval, void* value) { return attribute::set(holder_of(type), keyval, value); }

Status get_attr(Datatype& type, int keyval, void* value, int* flag) {
  return attribute::get(holder_of(type), keyval, value, flag);
}

Status delete_attr(Datatype& type, int keyval) { return attribute::remove(holder_of(type), keyval); }

Status copy_attributes(Datatype& from, Datatype& to) {
  return has_attributes(from) ? attribute::copy_all(holder_of(from), holder_of(to)) : Status{};
}

Status delete_attributes(Datatype& type) {
  return has_attributes(type) ? attribute::delete_all(holder_of(type)) : Status{};
}

}  // namespace ashlar::datatype
