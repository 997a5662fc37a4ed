#pragma once
#include <string>

#include "framework/param/schema.h"

namespace ashlar::info {

/// A JSON Schema (draft 07) of the parameter files, for editors: every key that `schema` knows in every spelling of
/// dots and nested maps, its values as the parser takes them, `value`/`lock`/`when`, `rules` and `classes`.
std::string json_schema(const param::Schema& schema, const std::string& version);

}  // namespace ashlar::info
