#pragma once
#include <string>

#include "framework/coll/catalogue.h"

namespace ashlar::info {

/// A JSON Schema of tuning files, for editors: collectives, the algorithms of `catalogue` that each may use, conditions
/// and arguments. It takes what RuleReader (framework/coll/rule.h) takes, but for ranges whose ends are the wrong way
/// round, lists of one value, and rows whose settings stand in several places.
std::string tuning_schema(coll::Catalogue& catalogue, const std::string& version);

}  // namespace ashlar::info
