#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/status.h"

namespace ashlar::param {

/// What `when:` conditions are held against. What is left empty is looked up the first time a condition asks for it.
struct Context {
  std::string host;
  std::string launcher;  // "mpiexec", "srun", "singleton", ...
  int ranks = 0;         // 0: not known (yet)
  int ranks_per_node = 0;
  std::optional<bool> container;
  std::optional<std::vector<std::string>> fabrics;  // devices and their kinds: "mlx5_0", "infiniband", "cxi"
};

// A `when:` as one text: conditions separated by kAnd, each "subject" kOr "pattern" kOr "pattern"...
inline constexpr char kAnd = '\x1e';
inline constexpr char kOr = '\x1f';

/// Whether every condition of `when` holds. When not, *why_not (if given) says which one and what is the case here.
bool holds(std::string_view when, Context& context, std::string* why_not);

/// Fails with MPI_ERR_ARG when a subject is unknown, a range of ranks cannot be read or holds no number, or `container`
/// is asked for something else than a switch.
Status check_when(std::string_view when);

/// What a condition can look at: host, fabric, ranks, ...
std::span<const std::string_view> condition_subjects();

/// "host gpu* or dgx?, ranks >=64".
std::string when_in_words(std::string_view when);

}  // namespace ashlar::param
