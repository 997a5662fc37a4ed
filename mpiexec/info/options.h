#pragma once
#include <string>
#include <vector>

#include "framework/base/status.h"
#include "framework/param/sources.h"

namespace ashlar::info {

enum class Question {
  overview,
  components,
  params,
  pvars,
  events,
  categories,
  explain,
  waits,
  coverage,
  messages,
  schema,
  version,
  register_folder,
  check,
  help
};

struct Options {
  Question question = Question::overview;
  std::string subject;  // framework, prefix, key, file, part of a message
  int level = 0;        // parameters up to this verbosity
  bool json = false;
  int pid = 0;  // of a process of a running job; 0: the question is about this installation
  std::vector<param::CommandLineSetting> settings;
};

Status parse_options(int argc, char** argv, Options* options);
extern const char kHelp[];

}  // namespace ashlar::info
