#include "mpiexec/program_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>

#include "framework/base/error_class.h"
#include "framework/base/failure.h"
#include "mpiexec/spawn.h"
#include "mpiexec/text.h"

namespace ashlar::mpiexec {

std::string variable_of(const Environment& base, const Options& options, const Segment& segment,
                        const std::string& name) {
  std::string value = base.get(name);
  for (const std::vector<EnvChange>* changes : {&options.env, &segment.env})
    for (const EnvChange& change : *changes)
      if (change.first == name) value = change.second;
  return value;
}

Status find_program_of(const Environment& base, const Options& options, const Segment& segment, std::string* file) {
  std::string path = variable_of(base, options, segment, "PATH");
  if (path.empty()) path = "/usr/local/bin:/usr/bin:/bin";
  struct stat folder;
  if (!segment.wdir.empty() && (stat(segment.wdir.c_str(), &folder) != 0 || !S_ISDIR(folder.st_mode)))
    return fail(kErrArg, "start.no_folder", {{"value", brief(segment.wdir)}});
  return find_program(segment.argv[0], segment.path, segment.wdir, path, file);
}

std::string current_folder() {
  char folder[PATH_MAX];
  return getcwd(folder, sizeof folder) != nullptr ? folder : "/";
}

Status enter_folder(const Options& options, const std::string& folder) {
  const bool own_folders = std::all_of(options.segments.begin(), options.segments.end(),
                                       [](const Segment& s) { return s.wdir.starts_with('/'); });
  if (!own_folders && chdir(folder.c_str()) != 0)
    return fail(kErrArg, "host.no_folder", {{"folder", brief(folder)}, {"lower", std::strerror(errno)}});
  return {};
}

}  // namespace ashlar::mpiexec
