#pragma once
#include <cstdint>
#include <span>

#include "framework/base/status.h"
#include "framework/rma/window.h"

namespace ashlar {
class Info;
}
namespace ashlar::rma {

/// Takes over what `info` (nullptr: nothing) says. Keys and values that the standard does not know are left alone.
/// Fails with MPI_ERR_INFO_VALUE where the standard says what a value has to be.
Status read_hints(const Info* info, Hints* hints);
/// As a process tells them to the others.
std::uint32_t bits_of(const Hints& hints);
Hints hints_of(std::uint32_t bits);
/// The key of a promise that is in one of the two only; nullptr: there is none. alloc_shared_noncontig is no promise.
const char* differing_hint(std::uint32_t a, std::uint32_t b);
/// What holds on all of them: a promise only if every process has given it.
void agree_on(std::span<const Card> cards, Hints* hints);
/// MPI_Win_set_info: collective. What a program promises about its calls may change, to what all processes say; what
/// the window was built on stays. A process whose info is wrong fails, and says what it has said before.
Status change_hints(RmaWindow& window, const Info* info);
/// All supported hints with the values in force, into `info`.
Status write_hints(const RmaWindow& window, Info& info);

}  // namespace ashlar::rma
