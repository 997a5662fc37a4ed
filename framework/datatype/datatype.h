#pragma once
#include <mpi.h>

#include <cstdint>
#include <memory>

#include "framework/base/status.h"
#include "framework/base/types.h"
#include "framework/datatype/basic.h"
#include "framework/datatype/bounds.h"
#include "framework/datatype/signature.h"
#include "framework/object/object.h"

namespace ashlar {

namespace datatype {
struct Layout;
struct Cold;
struct Builder;
}  // namespace datatype

/// The object behind an MPI_Datatype. Immutable after construction except for the committed state, the name, the
/// attributes and the compiled layout, which all change outside the message path.
class Datatype : public Object {
 public:
  Datatype();
  ~Datatype();

  // --- short path: the first cache line -----------------------------------------------------------------------------
  MPI_Count size() const { return size_; }      // bytes of data in one item: what travels
  MPI_Count extent() const { return extent_; }  // from one item to the next in an array
  /// `count` items are one run of count * size() bytes that starts at the buffer's address.
  bool dense() const { return dense_; }
  /// Fit for communication: committed, and the user still has a handle to it.
  bool committed() const { return committed_; }
  MPI_Count lb() const { return lb_; }
  MPI_Count ub() const { return lb_ + extent_; }
  MPI_Count true_lb() const { return true_lb_; }  // offset of the lowest byte of data
  MPI_Count true_extent() const { return true_extent_; }
  /// The compiled form; its first packed byte lies at origin(). Only of a committed datatype.
  const datatype::Layout& layout() const { return *layout_; }
  MPI_Count origin() const { return origin_; }

  // --- set-up path --------------------------------------------------------------------------------------------------
  Basic basic() const { return basic_; }  // kNone: derived
  BasicClass basic_class() const { return class_; }
  /// A named constant, or one of the unnamed predefined datatypes (MPI_Type_create_f90_*, MPI_Type_get_value_index).
  bool is_predefined() const { return predefined != 0 || basic_ != Basic::kNone; }
  datatype::Bounds bounds() const;
  const datatype::Signature& signature() const { return signature_; }
  /// The user's name, or the constant's; "" when there is none. Never null.
  const char* name() const;
  /// The name, or a description such as "a vector datatype without a name": for sentences about errors.
  const char* described() const;

 private:
  friend struct datatype::Builder;

  bool committed_ = false;
  bool dense_ = false;
  Basic basic_ = Basic::kNone;
  BasicClass class_ = BasicClass::kOther;
  MPI_Count size_ = 0;
  MPI_Count extent_ = 0;
  MPI_Count lb_ = 0;
  MPI_Count true_lb_ = 0;
  MPI_Count true_extent_ = 0;
  const datatype::Layout* layout_ = nullptr;  // owned: one reference

  MPI_Count origin_ = 0;
  datatype::Signature signature_;
  std::unique_ptr<datatype::Cold> cold_;  // null in predefined datatypes
  std::int32_t align_ = 1;
  bool has_data_ = false, has_mark_lb_ = false, has_mark_ub_ = false;
};

static_assert(sizeof(Datatype) <= 2 * kCacheLine - sizeof(void*), "a slab cell of two cache lines");

void destroy(Datatype* type);

namespace datatype {

/// The object of a predefined constant such as MPI_INT. After register_predefined().
Datatype& predefined(MPI_Datatype constant);

/// Fills the table of predefined handles with all datatypes and reduction operations. Idempotent, any thread.
void register_predefined();

/// Fails with MPI_ERR_TYPE and a sentence unless `type` may be used in communication.
Status check_committed(const Datatype& type);

}  // namespace datatype
}  // namespace ashlar
