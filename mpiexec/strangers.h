#pragma once

namespace ashlar::mpiexec {

/// Ends the connections that other users have made to ports that this process listens on. libpmix's server listens on
/// the loopback interface and keeps every connection, so that any user of the machine could use up mpiexec's
/// descriptors. A connection is shut down and not closed: its owner then closes it. Returns how many.
int hang_up_on_strangers();

}  // namespace ashlar::mpiexec
