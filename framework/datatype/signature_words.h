#pragma once
#include <mpi.h>

#include <cstddef>
#include <cstdint>

#include "framework/datatype/data_view.h"
#include "framework/datatype/signature.h"
#include "framework/object/object.h"

/// Whether the type signatures of two ends of a message go together (MPI-5.0, 3.3.1), for `check.datatypes`.
namespace ashlar::datatype {

/// The signature of all items of `data`.
Signature signature_of(const DataView& data);

/// Whether a receive into `data` may take a message of signature (hash, elements): the message's elements are the first
/// ones of the receive's. MPI_PACKED goes with everything, unless it ends inside an element of the receive. A message
/// that is longer than the receive is another error and passes here, as long as its bytes do not fit either.
bool accepts(const DataView& data, std::uint64_t hash, MPI_Count elements, MPI_Count bytes);

/// Whether a signature is that of MPI_PACKED, which goes with everything.
bool is_packed(std::uint64_t hash, MPI_Count elements);

/// A committed datatype of the signature of `type` whose items are their packed bytes: what a packed copy is sent as,
/// so that its signature is still known.
Status packed_form(Datatype& type, Ref<Datatype>* out);

/// Writes the signature of `data` in words: "100 x MPI_INT", "3 x (MPI_DOUBLE, 2 x MPI_CHAR)". Cut to `room` with dots.
void describe_signature(const DataView& data, char* out, std::size_t room);

}  // namespace ashlar::datatype
