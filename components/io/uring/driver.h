#pragma once
#include "components/io/uring/ring.h"
#include "framework/plugin/io_in_front.h"

/// Accesses of many pieces through rings, in front of the driver that opens the files.
namespace ashlar::io::uring {

extern const ashlar_host* the_host;
extern Rings the_rings;
extern std::uint64_t least_pieces;  // of an access through a ring

struct Driver : ashlar_io_front_driver {
  bool writes;  // through rings, too
};

ashlar_result open_file(ashlar_io_driver*, const ashlar_io_open* wanted, ashlar_io_file** out);

}  // namespace ashlar::io::uring
