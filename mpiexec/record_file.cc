#include "mpiexec/record_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "framework/base/error_class.h"
#include "framework/base/failure.h"
#include "framework/param/trust.h"
#include "framework/plugin/report_file.h"
#include "framework/plugin/report_text.h"
#include "mpiexec/text.h"

namespace ashlar::mpiexec {

RecordFile::~RecordFile() {
  if (fd_ >= 0 && !pattern_.empty()) close(fd_);
}

void RecordFile::write(const std::string& line) {
  if (!wanted_) return;
  if (fd_ < 0 && pattern_.empty()) fd_ = STDERR_FILENO;
  if (fd_ < 0) {
    const ashlar_report_context context{.size = sizeof context,
                                        .world_rank = -1,
                                        .world_size = 0,
                                        .host = host_.c_str(),
                                        .pid = getpid(),
                                        .launcher_tells = 0};
    const std::string name = plugin::report_file_name(pattern_, context);
    fd_ = plugin::open_report_file(name, param::elevated());
    if (fd_ < 0) {
      const char* const reason = errno == ENXIO ? "it is a FIFO that nothing reads from" : std::strerror(errno);
      say(in_words(fail(kErrOther, "report.file", {{"file", brief(name)}, {"lower", reason}})));
      wanted_ = false;
      return;
    }
  }
  plugin::write_whole(fd_, line);
}

}  // namespace ashlar::mpiexec
