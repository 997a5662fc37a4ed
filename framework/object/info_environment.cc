// MPI_INFO_ENV (MPI-5.0, 11.2.1): how this process was started.
#include <mpi.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>

#include "framework/object/info.h"
#include "framework/object/info_api.h"

namespace ashlar::info {
namespace {

void put(Info& info, const char* key, std::string value) {
  if (value.size() >= MPI_MAX_INFO_VAL) value.resize(MPI_MAX_INFO_VAL - 1);
  for (auto& entry : info.entries) {
    if (entry.first != key) continue;
    entry.second = std::move(value);
    return;
  }
  info.entries.emplace_back(key, std::move(value));
}

/// The words of the command line, the first one and the others with a blank between.
void put_command(Info& info, int argc, char** argv) {
  std::string rest;
  for (int i = 1; i < argc && argv[i]; ++i) rest += (i > 1 ? " " : "") + std::string(argv[i]);
  put(info, "command", argv[0] ? argv[0] : "");
  put(info, "argv", rest);
}

void put_own_command(Info& info) {
  std::FILE* const file = std::fopen("/proc/self/cmdline", "re");
  if (!file) return;
  std::string first, rest, *word = &first;
  for (int c; (c = std::fgetc(file)) != EOF;) {
    if (c != 0) {
      *word += static_cast<char>(c);
    } else if (word == &first) {
      word = &rest;
    } else {
      rest += ' ';
    }
  }
  std::fclose(file);
  if (!rest.empty()) rest.pop_back();
  put(info, "command", first);
  put(info, "argv", rest);
}

}  // namespace

void describe_process(Info& info) {
  put_own_command(info);
  char folder[4096];
  if (getcwd(folder, sizeof folder)) put(info, "wdir", folder);
  utsname machine;
  if (uname(&machine) != 0) return;
  put(info, "arch", machine.machine);
  put(info, "host", machine.nodename);
}

void describe_start(Info& info, const char* words) {
  static constexpr const char* kKeys[] = {"maxprocs", "soft", "mpi_memory_alloc_kinds", "mpi_initial_errhandler"};
  for (std::string_view rest = words; !rest.empty();) {
    const std::size_t end = std::min(rest.find(';'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const std::size_t equals = line.find('=');
    if (equals == line.npos || equals + 1 == line.size()) continue;
    for (const char* key : kKeys)
      if (line.substr(0, equals) == key) add_missing(info, key, line.substr(equals + 1));
  }
}

Status create_env(int argc, char** argv, Info** result) {
  ASHLAR_TRY(dup(&environment(), result));
  if (words_of_start) describe_start(**result, words_of_start());
  if (argc > 0 && argv) put_command(**result, argc, argv);
  return {};
}

}  // namespace ashlar::info
