#include <cstddef>

#include "components/io/uring/config.h"

namespace ashlar::io::uring {
namespace {

const char* const kUses[] = {"auto", "always", "never", nullptr};
const char* const kPieceRange[] = {"2", "1000000", nullptr};
const char* const kRingRange[] = {"1", "1024", nullptr};
const char* const kEntryRange[] = {"1", "4096", nullptr};

}  // namespace

const ashlar_param kParams[kParamCount] = {
    {"use", "auto",
     "Which accesses of many pieces go through io_uring, where the system has it: reads of files that are not on a "
     "file system in memory (auto), all (always), none (never).",
     ASHLAR_PARAM_ENUM, ASHLAR_SCOPE_LOCAL, ASHLAR_USER_BASIC, ASHLAR_PARAM_FROZEN, offsetof(Config, use), kUses},
    {"pieces", "8",
     "Pieces of a file that do not follow each other from which an access goes through a ring: fewer are moved by a "
     "system call each.",
     ASHLAR_PARAM_U64, ASHLAR_SCOPE_LOCAL, ASHLAR_TUNER_BASIC, ASHLAR_PARAM_FROZEN, offsetof(Config, pieces),
     kPieceRange},
    {"rings", "4", "Rings of a process: as many accesses may use one at a time; further ones make system calls.",
     ASHLAR_PARAM_U64, ASHLAR_SCOPE_LOCAL, ASHLAR_TUNER_DETAIL, ASHLAR_PARAM_FROZEN, offsetof(Config, rings),
     kRingRange},
    {"entries", "128", "Transfers of a ring that may be under way at a time.", ASHLAR_PARAM_U64, ASHLAR_SCOPE_LOCAL,
     ASHLAR_TUNER_DETAIL, ASHLAR_PARAM_FROZEN, offsetof(Config, entries), kEntryRange},
};

}  // namespace ashlar::io::uring
