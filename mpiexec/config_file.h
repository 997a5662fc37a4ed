#pragma once
#include <string>
#include <vector>

#include "framework/base/status.h"

namespace ashlar::mpiexec {

/// Reads the file of -configfile (MPI-5.0, 11.5): one program with its options on each line, # begins a line of
/// comment, a backslash at its end continues a line; words may be quoted as in a shell. Gives the words as on a command
/// line, with a colon between programs.
Status read_config_file(const std::string& path, std::vector<std::string>* words);
/// The same of -file: options of one program, on as many lines as it takes.
Status read_option_file(const std::string& path, std::vector<std::string>* words);

/// The words of each line that has some, with the same comments, continuations and quotes. `option` is for the
/// sentence of a failure.
Status read_word_lines(const char* option, const std::string& path, std::vector<std::vector<std::string>>* lines);

}  // namespace ashlar::mpiexec
