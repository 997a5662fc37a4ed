#pragma once
#include "framework/p2p/operation.h"

/// What a link pushes to its endpoint for a send (Pending::push): one function per protocol.
namespace ashlar::p2p {

/// Gives a message to the endpoint with its envelope, whole: from its memory if it is short and contiguous, else packed
/// into the wire buffer.
ashlar_result give_whole(Link& link, std::uint8_t id, std::uint64_t h0, std::uint64_t h1, const DataView& data,
                         MPI_Count bytes);

/// The message by its protocol; with check.datatypes its signature goes ahead of it.
ashlar_result push_message(Pending& work, Link& link);
ashlar_result push_signature(Pending& work, Link& link);
/// Fragments of a message, once the receiver has asked for them.
ashlar_result push_fragment(Pending& work, Link& link);

}  // namespace ashlar::p2p
