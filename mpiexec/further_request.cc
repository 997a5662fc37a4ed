#include "mpiexec/further_request.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <utility>
#include <vector>

#include "framework/base/clock.h"
#include "framework/base/error_class.h"
#include "framework/base/failure.h"
#include "framework/plugin/further_job.h"
#include "framework/plugin/trace_forms.h"
#include "mpiexec/hosts.h"
#include "mpiexec/soft.h"
#include "mpiexec/text.h"

namespace ashlar::mpiexec {
namespace {

using launch::FurtherJob;
using Pairs = std::vector<std::pair<std::string, std::string>>;

constexpr int kMostFiles = 8;  // that name each other

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\r"), end = text.find_last_not_of(" \t\r");
  return begin == std::string::npos ? std::string() : text.substr(begin, end - begin + 1);
}

/// A name as a process means it that runs in `folder`.
std::string in_folder(const std::string& name, const std::string& folder) {
  return name.starts_with('/') ? name : folder + "/" + name;
}

/// The pairs, with those of files (key "file") in front of the ones that the program has set itself.
Status with_files(const Pairs& pairs, const std::string& folder, int depth, Pairs* all) {
  for (const auto& [key, value] : pairs) {
    if (key != "file") continue;
    const std::string path = in_folder(value, folder);
    std::ifstream file(path);
    if (!file || depth == 0)
      return fail(kErrArg, "further.file",
                  {{"file", brief(path)}, {"lower", file ? "it names itself" : std::strerror(errno)}});
    Pairs inside;
    for (std::string line; std::getline(file, line);) {
      line = trimmed(line);
      if (line.empty() || line[0] == '#') continue;
      const std::size_t equals = line.find('=');
      if (equals == std::string::npos)
        return fail(kErrArg, "further.file", {{"file", brief(path)}, {"lower", "no '=' in " + brief(line)}});
      inside.emplace_back(trimmed(line.substr(0, equals)), trimmed(line.substr(equals + 1)));
    }
    ASHLAR_TRY(with_files(inside, folder, depth - 1, all));
  }
  for (const auto& pair : pairs)
    if (pair.first != "file") all->push_back(pair);
  return {};
}

Status check_machine(const std::string& wanted) {
  utsname machine = {};
  uname(&machine);
  if (wanted == machine.machine) return {};
  return fail(kErrArg, "further.arch", {{"value", brief(wanted)}, {"machine", machine.machine}});
}

Status take_pair(const std::string& key, const std::string& value, const std::string& folder, Segment* segment,
                 Options* options) {
  if (key == "host") return read_hosts(value, &segment->hosts);
  if (key == "hostfile") return read_host_file(in_folder(value, folder), &segment->hosts);
  if (key == "arch") return check_machine(value);
  if (key == "wdir") segment->wdir = value;
  if (key == "path") segment->path = value;
  if (key == "soft") segment->soft = value;
  if (key == "mpi_initial_errhandler") options->params.emplace_back("runtime.initial_errhandler", value);
  if (key == "mpi_memory_alloc_kinds") options->params.emplace_back("runtime.memory_alloc_kinds", value);
  if (key == launch::kPmixEnv && value.find('=') != std::string::npos)
    segment->env.emplace_back(value.substr(0, value.find('=')), value.substr(value.find('=') + 1));
  if (key == launch::kPmixParent) options->pmix_parent = value;
  return {};  // other keys are for other libraries, and are passed over
}

Status take_program(const FurtherJob::Program& program, const std::string& folder, Options* options) {
  Segment segment;
  segment.argv = program.argv;
  segment.wdir = folder;
  Pairs pairs;
  ASHLAR_TRY(with_files(program.info, folder, kMostFiles, &pairs));
  for (const auto& [key, value] : pairs) ASHLAR_TRY(take_pair(key, value, folder, &segment, options));
  segment.wdir = in_folder(segment.wdir, folder);
  segment.asked = segment.ranks = static_cast<unsigned>(std::strtoul(program.processes.c_str(), nullptr, 10));
  long found = segment.ranks;
  if (!segment.soft.empty() && !largest_of(segment.soft, static_cast<long>(segment.asked), &found))
    return fail(kErrArg, "further.soft", {{"value", brief(segment.soft)}});
  segment.ranks = static_cast<unsigned>(found);
  options->segments.push_back(std::move(segment));
  return {};
}

std::vector<HostSlots> taken_in(const std::string& text) {
  std::vector<HostSlots> out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size()), equals = text.find('=', at);
    if (equals >= end) break;
    out.push_back({.name = text.substr(at, equals - at),
                   .slots = static_cast<unsigned>(std::strtoul(text.c_str() + equals + 1, nullptr, 10))});
    at = end + 1;
  }
  return out;
}

/// "out.json" of job 1.2 is "out.job1.2.json", a folder or pattern "logs" is "logs.job1.2".
std::string of_job(const std::string& file, const std::string& job) {
  const std::size_t dot = file.rfind('.'), slash = file.rfind('/');
  const bool extension = dot != std::string::npos && (slash == std::string::npos || dot > slash + 1) && dot > 0;
  return extension ? file.substr(0, dot) + ".job" + job + file.substr(dot) : file + ".job" + job;
}

/// The same of a list with commas.
std::string all_of_job(const std::string& files, const std::string& job) {
  std::string out;
  for (const std::string& file : plugin::trace_files(files)) out += (out.empty() ? "" : ",") + of_job(file, job);
  return out;
}

}  // namespace

std::vector<HostSlots> FurtherRequest::hosts_of(const Options& options) {
  const std::vector<HostSlots>& known = options.base_hosts();
  std::vector<HostSlots> all, now = known;
  const auto add = [&](const HostSlots& host) {
    const auto same = [&](const HostSlots& other) { return other.name == host.name; };
    const auto line = std::find_if(known.begin(), known.end(), same);
    if (std::none_of(all.begin(), all.end(), same)) all.push_back(host);
    HostSlots& kept = *std::find_if(all.begin(), all.end(), same);
    if (kept.slots == 0) kept.slots = host.slots;
    if (kept.slots == 0 && line != known.end()) kept.slots = line->slots;
  };
  for (const Segment& segment : options.segments) {
    if (!segment.hosts.empty()) now = segment.hosts;
    if (now.empty()) now.push_back({.name = "localhost", .slots = 0});
    for (const HostSlots& host : now) add(host);
  }
  return all;
}

std::string FurtherRequest::text_of(const std::vector<HostSlots>& taken) {
  std::string out;
  for (const HostSlots& host : taken) out += (out.empty() ? "" : ",") + host.name + "=" + std::to_string(host.slots);
  return out;
}

bool FurtherRequest::find() {
  const char* const text = std::getenv(launch::kFurtherVariable);
  if (text == nullptr) return false;
  int socket = -1, leash = -1, used = 0;
  char name[128] = "";
  if (std::sscanf(text, "%d:%127[0-9.]%n", &socket, name, &used) != 2) return false;
  if (text[used] == ':') {
    int rest = 0;
    unsigned long long names_at = 0;
    if (std::sscanf(text + used, ":%d:%lf:%u:%llx:%n", &leash, &timeout_s_, &ranks_above_, &names_at, &rest) == 4)
      taken_above_ = taken_in(text + used + rest);
    names_at_ = names_at;
  }
  unsetenv(launch::kFurtherVariable);
  asked_ns_ = now_ns();
  sockaddr_storage address;
  socklen_t size = sizeof address;
  if (getpeername(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) return false;
  socket_ = Descriptor(socket);
  leash_ = Descriptor(leash);
  name_ = name;
  for (const int fd : {socket, leash})
    if (fd >= 0) fcntl(fd, F_SETFD, FD_CLOEXEC);
  return true;
}

Status FurtherRequest::apply(Options* options) {
  const timeval patience = {10, 0};
  setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  std::string arrived;
  std::vector<std::string> texts;
  char bytes[65536];
  while (!launch::take_message(&arrived, &texts)) {
    const ssize_t n = recv(socket_.get(), bytes, sizeof bytes, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return fail(kErrOther, "further.no_request", {{"lower", n < 0 ? std::strerror(errno) : ""}});
    arrived.append(bytes, static_cast<std::size_t>(n));
  }
  FurtherJob job;
  if (!job.read(texts)) return fail(kErrOther, "further.no_request", {{"lower", "it is of another version"}});
  parent_port_ = job.port;
  options->hosts = hosts_of(*options);
  options->taken = taken_above_;
  options->segments.clear();
  options->sets.clear();
  std::erase_if(options->params, [](const auto& pair) { return pair.first == "runtime.process_sets"; });
  options->stdin_rank = -1;
  options->show_placement = options->help = options->version = false;
  options->timeout_s = timeout_s_;
  if (options->bind == BindTo::kAuto) options->bind = BindTo::kNone;  // the ranks of the job above have the cores
  if (!options->output.empty()) options->output = of_job(options->output, name_);
  for (auto& [key, value] : options->params)
    if (key == "tool.trace.file") value = all_of_job(value, name_);
  for (const FurtherJob::Program& program : job.programs) ASHLAR_TRY(take_program(program, job.folder, options));
  if (options->ranks() == 0) return fail(kErrArg, "further.none");
  return {};
}

void FurtherRequest::tell(const char* word, const std::string& more) {
  const std::string message = launch::message_of({word, "-1", more});
  (void)!send(socket_.get(), message.data(), message.size(), MSG_NOSIGNAL);
}

void FurtherRequest::refused(const std::string& sentence) {
  if (socket_) tell(launch::kRefused, sentence);
}

void FurtherRequest::started(const Options& options, const std::string& job_id) {
  if (!socket_) return;
  std::vector<std::string> texts{launch::kStarted};
  for (const Segment& segment : options.segments) texts.push_back(std::to_string(segment.ranks));
  const std::string message = launch::message_of({launch::kNamed, job_id}) + launch::message_of(texts);
  (void)!send(socket_.get(), message.data(), message.size(), MSG_NOSIGNAL);
}

void FurtherRequest::over(const std::string& sentence) {
  if (!socket_) return;
  const std::string message = launch::message_of({launch::kOver, sentence});
  (void)!send(socket_.get(), message.data(), message.size(), MSG_NOSIGNAL);
}

}  // namespace ashlar::mpiexec
