#pragma once
#include <mpi.h>

#include <string>
#include <string_view>

#include "framework/param/param_row.h"

namespace ashlar::mpit {

/// How tools see the values of a parameter: its type, what they read, what they write.
MPI_Datatype datatype_of(ashlar_param_type type);
/// The row's text, with unit and range.
std::string describe(const ashlar_param& row);
/// Gives a tool the value that stands in a file as `text`; of texts `count` characters. A code of MPI_T.
int put_value(const ashlar_param& row, std::string_view text, void* out, int count);
/// What a tool wrote, as it would stand in a file. False: it is no value of this row.
bool text_from(const ashlar_param& row, const void* in, int count, std::string* text);

}  // namespace ashlar::mpit
