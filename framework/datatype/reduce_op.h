#pragma once
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "framework/base/status.h"
#include "framework/datatype/datatype.h"
#include "framework/object/object.h"

namespace ashlar {

/// The object behind an MPI_Op: one of the standard's operations, or a user's function.
class ReduceOp : public Object {
 public:
  /// The standard's operations, in the order of the kernel table.
  enum class Code : std::uint8_t {
    kSum,
    kMin,
    kMax,
    kProd,
    kBand,
    kBor,
    kBxor,
    kLand,
    kLor,
    kLxor,
    kMinloc,
    kMaxloc,
    kReplace,
    kNoOp,
    kUser
  };
  using Function = void (*)();  // MPI_User_function or MPI_User_function_c

  ReduceOp(Code code, bool commutative, Function function, bool wide)
      : Object(Kind::kReduceOp), code_(code), commutative_(commutative), wide_(wide), function_(function) {}

  bool commutative() const { return commutative_; }
  Code code() const { return code_; }
  const char* name() const;

  /// Whether this is one of the standard's operations and `type` a predefined datatype that it takes.
  bool takes(const Datatype& type) const;
  /// Ok when this operation may be used with `type`; else MPI_ERR_OP with a sentence that names both.
  Status check(const Datatype& type) const;

  /// inout[i] = in[i] op inout[i]. The pair was checked. User functions are called with the datatype's own handle, in
  /// pieces of at most INT_MAX items when they count in int.
  void apply(const void* in, void* inout, MPI_Count count, Datatype& type) const;

  /// out[i] = a[i] op b[i]: saves the copy that apply() would need. `out` may equal `b`; other overlaps are not
  /// allowed. The pair was checked.
  void apply3(const void* a, const void* b, void* out, MPI_Count count, Datatype& type) const;

 private:
  Code code_;
  bool commutative_;
  bool wide_;
  Function function_;
};

void destroy(ReduceOp* op);

namespace datatype {
/// For each of the standard's operations the classes of datatypes that it takes, one bit each (MPI-5.0, 6.9.2).
struct OpClasses {
  std::uint16_t of[static_cast<std::size_t>(ReduceOp::Code::kUser) + 1];
};
constexpr OpClasses op_classes() {
  using Code = ReduceOp::Code;
  constexpr auto bit = [](BasicClass of) { return static_cast<std::uint16_t>(1u << static_cast<unsigned>(of)); };
  constexpr std::uint16_t integer = bit(BasicClass::kInteger), fortran = bit(BasicClass::kFortranInteger),
                          floating = bit(BasicClass::kFloating), logical = bit(BasicClass::kLogical),
                          complex = bit(BasicClass::kComplex), byte = bit(BasicClass::kByte),
                          address = bit(BasicClass::kMultiLanguage), pair = bit(BasicClass::kPair);
  OpClasses classes{};
  const auto set = [&classes](std::uint16_t taken, std::initializer_list<Code> codes) {
    for (const Code code : codes) classes.of[static_cast<std::size_t>(code)] = taken;
  };
  set(integer | fortran | floating | address, {Code::kMax, Code::kMin});
  set(integer | fortran | floating | complex | address, {Code::kSum, Code::kProd});
  set(integer | logical | address, {Code::kLand, Code::kLor, Code::kLxor});
  set(integer | fortran | byte | address, {Code::kBand, Code::kBor, Code::kBxor});
  set(pair, {Code::kMinloc, Code::kMaxloc});
  set(UINT16_MAX, {Code::kReplace, Code::kNoOp});
  return classes;
}
inline constexpr OpClasses kOpClasses = op_classes();

inline bool op_takes(ReduceOp::Code code, BasicClass of) {
  return (kOpClasses.of[static_cast<std::size_t>(code)] >> static_cast<unsigned>(of) & 1) != 0;
}
/// The object of a predefined constant such as MPI_SUM. After register_predefined().
ReduceOp& predefined_op(MPI_Op constant);
}  // namespace datatype

inline bool ReduceOp::takes(const Datatype& type) const {
  return type.basic() != Basic::kNone && datatype::op_takes(code_, type.basic_class());
}
}  // namespace ashlar
