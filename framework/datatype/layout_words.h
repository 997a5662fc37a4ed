#pragma once
#include <cstddef>

namespace ashlar {
class Datatype;
}  // namespace ashlar
namespace ashlar::datatype {

/// Writes the compiled form of one item in words: "512 x 8 bytes, 16 apart", "3 runs: 1 byte at 0, 12 bytes at 8 ...".
/// Places count from the first run; "from 48 on" says where that one lies. Long tables are cut after a few entries, and
/// all of it to `room` with dots. `type` is committed.
void describe_layout(const Datatype& type, char* out, std::size_t room);

}  // namespace ashlar::datatype
