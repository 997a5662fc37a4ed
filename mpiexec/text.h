#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/status.h"

namespace ashlar::mpiexec {

/// printf into a string.
[[gnu::format(printf, 1, 2)]] std::string text(const char* format, ...);

/// Text from outside (a name, an option, a value) for a sentence: control characters are escaped, newlines too.
std::string shown(std::string_view text);

/// The same as a fact of a failure, whose room is limited: the middle of a long text is left out.
std::string brief(std::string_view text);

/// A failure as a paragraph for say(): its sentence, and a line for each advice, which begins with `advice`.
std::string in_words(Status failure, std::string_view advice = "\n- ");

/// One line or paragraph for the user on standard error, wrapped at 100 columns, in one write so that ranks' lines do
/// not fall into it. "mpiexec: " is put in front. Control characters but newlines are escaped.
void say(std::string_view message);

/// mpiexec's exit status after it has printed to standard output what an option wants.
int printed();

/// From now on the words in front are "mpiexec: " and `whom`: of several mpiexecs of one user's command.
void speak_for(const std::string& whom);

/// The entry of `known` that `word` is most likely a misspelling of; "" when none is near.
std::string nearest(std::string_view word, const std::vector<std::string>& known);

/// Whether the dotted name is `prefix` or one under it; all are under "".
bool below(std::string_view name, std::string_view prefix);

/// "0, 3-5 and 9" from ascending numbers; at most `limit` ranges, then "and 12 more".
std::string list_of(const std::vector<unsigned>& numbers, unsigned limit = 8);

/// "signal 11 (SIGSEGV, segmentation fault)".
std::string signal_words(int number);

}  // namespace ashlar::mpiexec
