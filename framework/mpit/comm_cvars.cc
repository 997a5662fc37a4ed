#include "framework/mpit/comm_cvars.h"

#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "framework/base/event.h"
#include "framework/coll/collective.h"
#include "framework/coll/comm_state.h"
#include "framework/param/param_row.h"
#include "framework/progress/lane.h"

namespace ashlar::mpit {
namespace {

int read_eager_limit(const Comm& comm, int, void* value, int) {
  const unsigned long long bytes = comm.eager_limit;
  std::memcpy(value, &bytes, sizeof bytes);
  return MPI_SUCCESS;
}

int write_eager_limit(Comm& comm, int, const void* value, int) {
  unsigned long long bytes = 0;
  std::memcpy(&bytes, value, sizeof bytes);
  if (bytes > std::numeric_limits<std::uint32_t>::max()) return MPI_T_ERR_INVALID;
  const event::Hold hold;
  const LaneGuard guard(comm.lane->lock);
  comm.eager_limit = static_cast<std::uint32_t>(bytes);
  return MPI_SUCCESS;
}

int read_algorithm(const Comm& comm, int which, void* value, int count) {
  const event::Hold hold;
  const LaneGuard guard(comm.lane->lock);
  std::strncpy(static_cast<char*>(value),
               comm.coll != nullptr ? comm.coll->preferred(static_cast<coll::Collective>(which)) : "",
               static_cast<std::size_t>(count));
  return MPI_SUCCESS;
}

int write_algorithm(Comm& comm, int which, const void* value, int count) {
  const auto* const name = static_cast<const char*>(value);
  if (strnlen(name, static_cast<std::size_t>(count)) == static_cast<std::size_t>(count)) return MPI_T_ERR_INVALID;
  const event::Hold hold;
  const LaneGuard guard(comm.lane->lock);
  coll::CommState* state = nullptr;
  if (!coll::state_of(comm, &state).ok()) return MPI_T_ERR_MEMORY;
  // The members would disagree about which collectives it is for.
  if (state->in_flight > 0) return MPI_T_ERR_CVAR_SET_NOT_NOW;
  return state->prefer(static_cast<coll::Collective>(which), name).ok() ? MPI_SUCCESS : MPI_T_ERR_INVALID;
}

/// The rows, with the texts that they point to.
struct Rows {
  Rows() {
    texts.reserve(2 * coll::kCollectives);  // they must not move
    rows.push_back({.name = "comm.eager_limit",
                    .help = "Largest message sent by the eager protocol on this communicator, in bytes, as far as the "
                            "transport takes it; what the transport sends at once is eager always. 0: p2p.eager_limit.",
                    .datatype = MPI_UNSIGNED_LONG_LONG,
                    .verbosity = ASHLAR_USER_DETAIL,
                    .scope = ASHLAR_SCOPE_LOCAL,
                    .read = read_eager_limit,
                    .write = write_eager_limit});
    for (int i = 0; i < coll::kCollectives; ++i) {
      const std::string what = coll::name_of(static_cast<coll::Collective>(i));
      const std::string& name = texts.emplace_back("comm." + what + ".algorithm");
      const std::string& help = texts.emplace_back(
          "Algorithm for every " + what + " on this communicator that it can serve, instead of coll." + what +
          ".algorithm and the rules; empty: these. All processes of the communicator must set the "
          "same, between the same two collectives.");
      rows.push_back({.name = name.c_str(),
                      .help = help.c_str(),
                      .datatype = MPI_CHAR,
                      .verbosity = ASHLAR_TUNER_BASIC,
                      .scope = ASHLAR_SCOPE_GROUP_EQ,
                      .read = read_algorithm,
                      .write = write_algorithm,
                      .which = i});
    }
  }
  std::vector<std::string> texts;
  std::vector<CommVariable> rows;
};

}  // namespace

std::span<const CommVariable> comm_variables() {
  static const Rows& all = *new Rows;
  return all.rows;
}

}  // namespace ashlar::mpit
