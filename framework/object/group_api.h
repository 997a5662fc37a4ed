#pragma once
#include <mpi.h>

#include "framework/base/status.h"

/// The group calls of MPI-5.0, chapter 7.3: arguments in the standard's order, handles resolved.
namespace ashlar {
class Group;
}
namespace ashlar::group {

/// MPI_GROUP_EMPTY.
Group& empty();

Status size(Group& g, int* size);
Status rank(Group& g, int* rank);
Status translate_ranks(Group& from, int n, const int* ranks, Group& to, int* out);
Status compare(Group& a, Group& b, int* result);
Status union_(Group& a, Group& b, Group** result);
Status intersection(Group& a, Group& b, Group** result);
Status difference(Group& a, Group& b, Group** result);
Status incl(Group& g, int n, const int* ranks, Group** result);
Status excl(Group& g, int n, const int* ranks, Group** result);
Status range_incl(Group& g, int n, int (*ranges)[3], Group** result);
Status range_excl(Group& g, int n, int (*ranges)[3], Group** result);
Status free(Group** g);

}  // namespace ashlar::group
