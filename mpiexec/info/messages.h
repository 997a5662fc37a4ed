#pragma once
#include <string>
#include <string_view>

namespace ashlar::info {

/// What the messages of the library mean: all of them, or those that `subject` asks for. That is a part of an id
/// ("argument.") or of a sentence, or a whole sentence as it was printed, with names and numbers in it. Empty when
/// there is none.
std::string messages_text(std::string_view subject);
std::string messages_json(std::string_view subject);

}  // namespace ashlar::info
