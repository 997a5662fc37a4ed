#pragma once
#include <cstdint>

/// A UCX for tests: the installed one, but for some functions that do what it does with cards, or where memory is
/// short, or in another version. Its workers are in one process.
namespace ucx_double {

/// Set before a worker is opened: puts. The others count at any time. A program that does not know the double sets them
/// by UCX_DOUBLE in the environment: "puts=1,refuse=3".
struct Settings {
  unsigned puts = 0;        // 0: UCX's; 1: they need nothing of the target's program; 2: so it says, but drops them
  unsigned refuse = 0;      // receives of tagged messages that are refused in a row before one is taken
  unsigned fail_flush = 0;  // the so-many-th flush from now fails; 0: none does
  // Parameters of TCP: all names are taken; those without the prefix TCP_ are refused, as UCX 1.23 does; both are.
  enum class Names : unsigned { kAll, kWithPrefix, kNone } names = Names::kAll;
};

struct Seen {
  unsigned puts = 0, flushes = 0, refused = 0;
  char settings[1024] = "";  // as ucp_config_modify() was given them: "TLS=tcp;NET_DEVICES=lo;"
};

}  // namespace ucx_double

extern "C" {
extern ucx_double::Settings ucx_double_settings;
extern ucx_double::Seen ucx_double_seen;
}
