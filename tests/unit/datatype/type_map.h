#pragma once
#include <mpi.h>

#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include "framework/datatype/api.h"
#include "framework/datatype/data_view.h"
#include "framework/datatype/datatype.h"

/// The oracle: datatypes as the standard defines them, a list of basic elements with displacements, interpreted one
/// byte at a time. It is slow, and shares no code with the room.
namespace ashlar::oracle {

struct Element {
  MPI_Count displacement;
  MPI_Count size;
  MPI_Count align;
  MPI_Datatype basic;
};

struct TypeMap {
  std::vector<Element> elements;
  std::vector<MPI_Count> lb_marks, ub_marks;

  static TypeMap basic(MPI_Datatype handle);
  /// Adds `other` shifted by `displacement`.
  void append(const TypeMap& other, MPI_Count displacement);
  MPI_Count size() const;
  MPI_Count lb() const;
  MPI_Count ub() const;
  MPI_Count extent() const { return ub() - lb(); }
  MPI_Count true_lb() const;
  MPI_Count true_ub() const;
  /// Displacement of every byte of `count` items in packed order.
  std::vector<MPI_Count> bytes(MPI_Count count) const;
};

TypeMap contiguous(MPI_Count count, const TypeMap& old);
TypeMap hvector(MPI_Count count, MPI_Count blocklength, MPI_Count stride, const TypeMap& old);
TypeMap hindexed(const std::vector<MPI_Count>& lengths, const std::vector<MPI_Count>& displacements,
                 const TypeMap& old);
TypeMap structure(const std::vector<MPI_Count>& lengths, const std::vector<MPI_Count>& displacements,
                  const std::vector<TypeMap>& old);
TypeMap resized(const TypeMap& old, MPI_Count lb, MPI_Count extent);
TypeMap subarray(const std::vector<MPI_Count>& sizes, const std::vector<MPI_Count>& subsizes,
                 const std::vector<MPI_Count>& starts, bool fortran, const TypeMap& old);
/// Finds the owner of each index, one by one.
TypeMap darray(int rank, const std::vector<MPI_Count>& sizes, const std::vector<int>& kinds,
               const std::vector<int>& arguments, const std::vector<int>& grid, bool fortran, const TypeMap& old);

/// A datatype with its oracle and the calls that made it. Owns the datatype.
struct Sample {
  Ref<Datatype> type;
  TypeMap map;
  std::string text;
};
/// A random datatype, at most `depth` constructors deep, of a few thousand elements at most.
Sample random_sample(std::mt19937_64& random, int depth);

/// Compares sizes, bounds, pack, unpack, pieces and runs of `count` items with the oracle; gtest failures say where.
void expect_equal(const Sample& sample, MPI_Count count, std::mt19937_64& random);

/// Committed datatypes for tests written by hand.
Ref<Datatype> committed(Datatype* type);

}  // namespace ashlar::oracle
