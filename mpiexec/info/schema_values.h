#pragma once
#include <string>

#include "framework/param/schema.h"

namespace ashlar::info {

/// The schema of one value of a row, without lists and attributes: what the parser takes, in every type that YAML may
/// give the words. One schema and not a choice of several, so that an editor's message names what is wrong.
std::string scalar_schema(const ashlar_param& row);

/// Of a switch, which conditions take too.
std::string switch_schema();

/// A text that fits a regular expression; `wanted` is what an editor says when it does not.
std::string text_like(const std::string& pattern, const std::string& wanted);

/// The built-in value, in the type that YAML gives it.
std::string fallback_of(const ashlar_param& row);

/// The words that an editor offers besides it.
std::string examples_of(const ashlar_param& row);

/// What stands under this name in the schema's definitions.
std::string reference(const std::string& definition);

/// What an editor shows of a key.
std::string description(const param::Row& row);

}  // namespace ashlar::info
