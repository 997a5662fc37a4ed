#include "mpiexec/host_check.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "framework/base/clock.h"
#include "framework/base/error_class.h"
#include "framework/base/failure.h"
#include "framework/param/sources.h"
#include "mpiexec/missing_library.h"
#include "mpiexec/program_file.h"
#include "mpiexec/remote_node.h"
#include "mpiexec/settings.h"
#include "mpiexec/text.h"

namespace ashlar::mpiexec {
namespace {

class HostCheck {
 public:
  HostCheck(const CheckOrder& order, const Environment& environment, WayProber* prober,
            std::function<void(const CheckStep&)> tell)
      : order_(order), environment_(environment), prober_(*prober), tell_(std::move(tell)) {}

  HostReport run() {
    look_at_installation();
    look_at_library();
    begin("folder");
    if (const Status status = enter_folder(order_.options, order_.folder); !status.ok())
      failed(status);
    else
      found(shown(order_.folder));
    for (const Segment& segment : order_.options.segments)
      if (!segment.argv.empty()) look_at_program(segment);
    look_at_network();
    return std::move(report_);
  }

 private:
  void begin(const char* what) {
    step_ = {.what = what, .words = {}, .over = false, .failed = false, .ns = 0};
    tell_(step_);
    began_ = now_ns();
  }
  void found(const std::string& words) { end(words, false); }
  void failed(const Status& why) { end(in_words(why), true); }
  void end(const std::string& words, bool failed) {
    step_.words = words;
    step_.over = true;
    step_.failed = failed;
    step_.ns = now_ns() - began_;
    tell_(step_);
  }

  void look_at_installation() {
    begin("mpiexec");
    const DaemonLine line = DaemonLine::of_this_process();
    found(text("%s/bin/mpiexec, version %s, %s, %u processor%s", shown(own_prefix()).c_str(), line.version.c_str(),
               line.machine.c_str(), line.cpus, line.cpus == 1 ? "" : "s"));
    const char* const shell = std::getenv("SHELL");
    begin("shell");
    found(shell != nullptr && *shell != '\0' ? shown(shell) : "not known: SHELL is not set");
  }

  void look_at_library() {
    begin("library");
    const std::string file = param::library_folder(own_prefix()) + "/libmpi_abi.so.1";
    if (access(file.c_str(), R_OK) != 0)
      return failed(fail(kErrOther, "check.no_library", {{"file", file}, {"lower", std::strerror(errno)}}));
    const std::vector<NeededLibrary> all = needed_libraries(file, "", "");
    if (const Status status = check_libraries(all); !status.ok()) return failed(status);
    found(text("%s, and the %zu that it needs", shown(file).c_str(), all.size()));
  }

  void look_at_program(const Segment& segment) {
    begin("program");
    std::string file;
    if (const Status status = find_program_of(environment_, order_.options, segment, &file); !status.ok())
      return failed(status);
    found(shown(file));
    look_at_libraries(file, variable_of(environment_, order_.options, segment, "LD_LIBRARY_PATH"), segment.wdir);
  }

  /// Those that the program needs: the first that is not there, or their number and which MPI library it is.
  void look_at_libraries(const std::string& file, const std::string& path, const std::string& folder) {
    begin("libraries");
    const std::vector<NeededLibrary> all = needed_libraries(file, path, folder);
    if (const Status status = check_libraries(all); !status.ok()) return failed(status);
    const std::string ours = param::library_folder(own_prefix());
    const OtherLibrary other = other_mpi_library(file, path, folder);
    if (!other.name.empty()) {
      const std::string instead = other.same_abi ? "Run it with LD_LIBRARY_PATH=" + shown(ours)
                                                 : "Compile it with the mpicc of this installation";
      return failed(fail(kErrOther, "check.other_library",
                         {{"program", brief(file)}, {"name", brief(other.name)}, {"instead", instead}}));
    }
    std::string words = text("%zu, all found", all.size());
    const auto is_kernel = [](const NeededLibrary& library) { return library.name == "libashlar.so"; };
    const auto kernel = std::find_if(all.begin(), all.end(), is_kernel);
    if (kernel == all.end())
      words += "; none is an MPI library";
    else if (is_same_file(kernel->path, ours + "/libashlar.so"))
      words += "; MPI is that of this installation";
    else
      words += "; MPI is " + shown(kernel->path) + ", which is not that of this installation";
    found(words);
  }

  Status check_libraries(const std::vector<NeededLibrary>& all) const {
    const auto missing =
        std::find_if(all.begin(), all.end(), [](const NeededLibrary& library) { return !library.there; });
    if (missing == all.end()) return {};
    return fail(kErrOther, "check.missing_library",
                {{"program", brief(missing->by)},
                 {"name", brief(missing->name)},
                 {"reason", missing_library_words(missing->name, param::library_folder(own_prefix()))}});
  }

  static bool is_same_file(const std::string& a, const std::string& b) {
    struct stat of_a, of_b;
    return stat(a.c_str(), &of_a) == 0 && stat(b.c_str(), &of_b) == 0 && of_a.st_dev == of_b.st_dev &&
           of_a.st_ino == of_b.st_ino;
  }

  void look_at_network() {
    begin("interfaces");
    // Without the transport there are interfaces, and no settings that choose among them.
    if (order_.ways.ports.empty()) return found_interfaces(ip::own_addresses(ip::Interfaces("auto")));
    if (const Status status = prober_.open(); !status.ok()) return failed(status);
    found_interfaces(prober_.own());
    begin("port");
    found(text("%u", unsigned{prober_.port()}));
    report_.addresses = prober_.addresses();
    report_.place = ip::host_here();
    report_.port = prober_.port();
  }

  void found_interfaces(const std::vector<ip::OwnAddress>& all) {
    std::string words;
    for (const ip::OwnAddress& own : all) {
      const ip::Candidate& c = own.candidate;
      words += text("%s%s %s/%u", words.empty() ? "" : ", ", shown(own.interface).c_str(),
                    ip::SocketAddress(c.family, c.bytes, 0).text(false).c_str(), unsigned{c.prefix});
    }
    found(words);
  }

  const CheckOrder& order_;
  const Environment& environment_;
  WayProber& prober_;
  const std::function<void(const CheckStep&)> tell_;
  HostReport report_;
  CheckStep step_;
  std::uint64_t began_ = 0;
};

}  // namespace

HostReport look_at_host(const CheckOrder& order, const Environment& environment, WayProber* prober,
                        std::function<void(const CheckStep&)> tell) {
  return HostCheck(order, environment, prober, std::move(tell)).run();
}

}  // namespace ashlar::mpiexec
