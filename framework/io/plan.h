#pragma once

namespace ashlar::io {

class OpenFile;
struct Plan;

/// Chooses how a collective access moves its data: by the facts that all its processes have stored, so that all choose
/// alike. Keeps a decision record of each choice that differs from the one before it.
void make_plan(OpenFile& file, const char* call, Plan* out);

}  // namespace ashlar::io
