#pragma once

namespace ashlar::mpit {

/// What the last MPI_T_finalize ends. Handles and sessions that the tool has not freed are invalid from then on.
void end_cvar_handles();
void end_pvar_sessions();
void end_registrations();

}  // namespace ashlar::mpit
