// MPI_INFO_ENV (MPI-5.0, 11.2.2): how this process was started, as far as it can tell by itself.
#include <mpi.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdio>
#include <string>

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

void describe_job(int processes, const char* thread_level, const char* memory_kinds) {
  Info& info = environment();
  put(info, "maxprocs", std::to_string(processes));
  put(info, "soft", std::to_string(processes));
  put(info, "thread_level", thread_level);
  if (*memory_kinds) put(info, "mpi_memory_alloc_kinds", memory_kinds);
}

Status create_env(int argc, char** argv, Info** result) {
  ASHLAR_TRY(dup(&environment(), result));
  if (argc > 0 && argv) put_command(**result, argc, argv);
  return {};
}

}  // namespace ashlar::info
