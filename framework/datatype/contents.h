#pragma once
#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "framework/datatype/datatype.h"
#include "framework/datatype/layout.h"
#include "framework/object/attributes.h"
#include "framework/object/int_array.h"
#include "framework/object/object.h"

namespace ashlar::datatype {

/// The call that made a datatype, kept for decoding (MPI-5.0, 5.1.13) and for the compiler: its numbers in the order of
/// its arguments, and its datatypes. Holding the datatypes is what lets the user free them at once.
struct Contents {
  /// What a number is decides which array of MPI_Type_get_contents it goes to.
  enum class What : std::uint8_t { kInt, kCount, kAddress };
  struct Segment {
    What what;
    std::size_t numbers;
  };

  int combiner = MPI_COMBINER_NAMED;
  bool large = false;  // made by a `_c` call
  std::vector<Segment> segments;
  std::vector<MPI_Count> numbers;
  std::vector<Ref<Datatype>> types;

  void add(What what, MPI_Count number);
  void add(What what, IntArray array, std::size_t n);
  std::size_t count_of(What what) const;
};

/// What only derived datatypes have, and no message reads.
struct Cold {
  Contents contents;
  std::string name;
  AttributeSet attributes;
  std::int32_t handles = 1;  // held by the user; get_contents and free change it
  bool was_committed = false;
};

/// Makes and changes datatypes. The only friend of Datatype.
struct Builder {
  /// A new, uncommitted datatype; false `status` on overflow or no memory.
  static Status make(Contents&& contents, const Bounds& bounds, MPI_Count size, const Signature& signature,
                     Datatype** out);
  static Datatype* predefined(const BasicRow& row);
  /// Makes the object of a predefined datatype what its row says. No other thread uses it yet.
  static void fit(Datatype& type, const BasicRow& row);
  /// A predefined datatype without a constant; nullptr: no memory. It lives as long as the process.
  struct Unnamed {
    Contents contents;
    MPI_Count size, extent, true_extent;
    std::int32_t align;
    Basic basic;
    BasicClass of;
    Signature signature;
    Placed placed;
  };
  static Datatype* unnamed(const Unnamed& wanted);
  /// Makes `type`, which is new, committed and one run of its packed bytes, whatever its contents say.
  static void make_packed_form(Datatype& type);
  /// Compiles `type` and its parts, as far as they are not compiled yet; their forms are kept with them.
  static void compile(Datatype& type);
  static void commit(Datatype& type);
  static Status free(Datatype** type);
  /// A further handle of the user to the same object.
  static void give_handle(Datatype& type);

  static std::unique_ptr<Cold> take_cold(Datatype& type) { return std::move(type.cold_); }
  /// Creates it for predefined datatypes, which may get a name or attributes too.
  static Cold& cold_of(Datatype& type);
  /// nullptr: never had any.
  static const AttributeSet* attributes(const Datatype& type) { return type.cold_ ? &type.cold_->attributes : nullptr; }
  static const Contents* contents(const Datatype& type) { return type.cold_ ? &type.cold_->contents : nullptr; }
};

/// Attributes: for MPI_Type_dup and MPI_Type_free. Fail with what a callback returned.
Status copy_attributes(Datatype& from, Datatype& to);
Status delete_attributes(Datatype& type);

}  // namespace ashlar::datatype
