#pragma once

namespace ashlar::mpiexec {

/// Blocks the signals that mpiexec passes on (except those it was started with ignored) and returns a signalfd that
/// reads them; -1 with errno on failure.
int take_signals();

/// SIGINT, SIGTERM, SIGHUP, SIGQUIT: the second of these kills.
bool asks_to_end(int signal);

}  // namespace ashlar::mpiexec
