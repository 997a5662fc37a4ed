#pragma once

namespace ashlar {

/// The MPI error classes that rooms below the bindings use, with the standard ABI's values.
/// Here so that the first rooms build, and their tests run, before the public header is generated.
enum : int { kErrArg = 13, kErrOther = 16, kErrIntern = 17, kErrNoMem = 39, kErrNoSuchFile = 42, kErrUnsupported = 55 };

}  // namespace ashlar
