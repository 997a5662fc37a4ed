// MPI_Comm_spawn: a launcher starts a further job, whose first process connects to a port of the root (MPI-5.0, 11.8).
#include <mpi.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/failure.h"
#include "framework/comm/engine.h"
#include "framework/comm/inter_exchange.h"
#include "framework/comm/join_api.h"
#include "framework/comm/meeting.h"
#include "framework/comm/outside.h"
#include "framework/comm/ports.h"
#include "framework/object/handle.h"
#include "framework/object/info.h"
#include "framework/plugin/further_job.h"
#include "framework/progress/user_call.h"

namespace ashlar::comm {
namespace {

using launch::FurtherJob;

/// What the root's call has led to: for the other processes of the communicator too.
struct Outcome {
  Status status;
  std::vector<std::int64_t> codes;  // one for each process that was asked for
};

std::string current_folder() {
  char* const folder = getcwd(nullptr, 0);
  std::string name = folder ? folder : "";
  std::free(folder);  // NOLINT: getcwd's
  return name;
}

Status add_program(const char* command, char** argv, int processes, const Info* info, int index, FurtherJob* job) {
  if (command == nullptr || *command == '\0') return fail(MPI_ERR_ARG, "spawn.no_command", {{"index", index}});
  if (processes < 0)
    return fail(MPI_ERR_ARG, "argument.value",
                {{"argument", "maxprocs"}, {"value", processes}, {"wanted", "0 or more"}, {"note", ""}});
  FurtherJob::Program program{.processes = std::to_string(processes), .argv = {command}, .info = {}};
  for (char** word = argv; word != nullptr && *word != nullptr; ++word) program.argv.emplace_back(*word);
  if (info != nullptr) program.info = info->entries;
  job->programs.push_back(std::move(program));
  return {};
}

/// Whether processes of the job may come to run on other hosts than this one.
bool goes_elsewhere(const FurtherJob& job) {
  if (Engine::current().outside->starts_elsewhere()) return true;
  const auto names_hosts = [](const std::pair<std::string, std::string>& pair) {
    return pair.first == "host" || pair.first == "hostfile" || pair.first == "file";
  };
  return std::any_of(job.programs.begin(), job.programs.end(), [&](const FurtherJob::Program& program) {
    return std::any_of(program.info.begin(), program.info.end(), names_hosts);
  });
}

/// The launcher's side of a start, as far as it has come.
class Talk {
 public:
  Talk(const FurtherJob& job, Descriptor socket) : socket_(std::move(socket)), out_(launch::message_of(job.texts())) {}

  /// Sends and receives what it can. False: the launcher has hung up.
  bool step() {
    while (sent_ < out_.size()) {
      const ssize_t n = send(socket_.get(), out_.data() + sent_, out_.size() - sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) {
        if (errno == EAGAIN) break;
        return false;
      }
      sent_ += static_cast<std::size_t>(n);
    }
    char bytes[4096];
    for (;;) {
      const ssize_t n = recv(socket_.get(), bytes, sizeof bytes, MSG_DONTWAIT);
      if (n > 0) {
        arrived_.append(bytes, static_cast<std::size_t>(n));
        continue;
      }
      if (n < 0 && errno == EINTR) continue;
      return n < 0 && errno == EAGAIN;
    }
  }
  bool next(std::vector<std::string>* answer) { return launch::take_message(&arrived_, answer); }

 private:
  Descriptor socket_;
  std::string out_, arrived_;
  std::size_t sent_ = 0;
};

/// Waits until the first process of the new job knocks at the port, or there will be none.
Status await_job(Comm& comm, Port& port, Talk& talk, Channel* channel, std::vector<int>* started) {
  std::string refused, over;
  bool open = true;
  const auto hear = [&] {
    open = talk.step();
    for (std::vector<std::string> answer; talk.next(&answer);) {
      if (answer[0] == launch::kStarted)
        for (std::size_t i = 1; i < answer.size(); ++i) started->push_back(std::atoi(answer[i].c_str()));
      if (answer[0] == launch::kRefused && answer.size() > 2) refused = answer[2];
      if (answer[0] == launch::kOver && answer.size() > 1) over = answer[1];
    }
  };
  wait_beside(*comm.lane, "for the processes that it starts", [&] {
    hear();
    if (!refused.empty()) return true;
    return port.take(channel) || !open || !over.empty();
  });
  if (!refused.empty()) return fail(MPI_ERR_SPAWN, "spawn.refused", {{"lower", refused}});
  if (!*channel) return fail(MPI_ERR_SPAWN, "spawn.never_joined", {{"lower", over}});
  while (started->empty() && open && over.empty()) hear();  // it was sent before any process ran
  return {};
}

/// At the root alone.
Outcome start(Comm& comm, Status fit, const FurtherJob& job, Port& port, Channel* channel) {
  Outcome out{.status = fit, .codes = {}};
  std::vector<int> asked, started;
  for (const FurtherJob::Program& program : job.programs) asked.push_back(std::atoi(program.processes.c_str()));
  Descriptor socket;
  if (out.status.ok()) out.status = Engine::current().outside->start_job(&socket);
  if (out.status.ok()) {
    Talk talk(job, std::move(socket));
    out.status = await_job(comm, port, talk, channel, &started);
  }
  const int failed = out.status.ok() ? MPI_ERR_SPAWN : out.status.mpi_class();
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const int there = out.status.ok() && i < started.size() ? started[i] : 0;
    for (int p = 0; p < asked[i]; ++p) out.codes.push_back(p < there ? MPI_SUCCESS : failed);
  }
  return out;
}

Status spawn_all(Comm& comm, int root, Status fit, FurtherJob& job, Comm** result, int* errcodes) {
  *result = nullptr;
  ASHLAR_TRY(check_intracomm(comm));
  Port port;
  Channel channel;
  Outcome outcome;
  std::int64_t head[2] = {MPI_SUCCESS, 0};
  if (comm.rank == root) {
    const PortNetwork network = network_of_ports();
    if (fit.ok()) fit = port.open(goes_elsewhere(job) ? &network : nullptr);
    if (fit.ok()) {
      job.port = port.name().text();
      job.folder = current_folder();
    }
    outcome = start(comm, fit, job, port, &channel);
    head[0] = outcome.status.mpi_class();
    head[1] = static_cast<std::int64_t>(outcome.codes.size());
  }
  ASHLAR_TRY(broadcast_words(comm, root, head, 2));
  outcome.codes.resize(static_cast<std::size_t>(head[1]));
  ASHLAR_TRY(broadcast_words(comm, root, outcome.codes.data(), outcome.codes.size()));
  for (std::size_t i = 0; errcodes != nullptr && i < outcome.codes.size(); ++i)
    errcodes[i] = static_cast<int>(outcome.codes[i]);
  ASHLAR_TRY(outcome.status);
  if (head[0] != MPI_SUCCESS) return fail(static_cast<int>(head[0]), "spawn.failed_at_root", {{"rank", root}});
  return meet(comm, root, channel, {}, result);
}

}  // namespace

Status spawn(const char* command, char** argv, int maxprocs, Info* info, int root, Comm& comm, Comm** result,
             int* errcodes) {
  const progress::UserCall call("MPI_Comm_spawn", &comm);
  FurtherJob job;
  Status fit;
  if (comm.rank == root) fit = add_program(command, argv, maxprocs, info, 0, &job);
  return spawn_all(comm, root, fit, job, result, errcodes);
}

Status spawn_multiple(int count, char** commands, char*** argvs, const int* maxprocs, const MPI_Info* infos, int root,
                      Comm& comm, Comm** result, int* errcodes) {
  const progress::UserCall call("MPI_Comm_spawn_multiple", &comm);
  FurtherJob job;
  Status fit;
  if (comm.rank == root) {
    if (count < 1)
      fit = fail(MPI_ERR_ARG, "argument.value",
                 {{"argument", "count"}, {"value", count}, {"wanted", "1 or more"}, {"note", ""}});
    else if (commands == nullptr || maxprocs == nullptr)
      fit = fail(MPI_ERR_ARG, "argument.null", {{"argument", commands ? "array_of_maxprocs" : "array_of_commands"}});
    for (int i = 0; fit.ok() && i < count; ++i)
      fit = add_program(commands[i], argvs ? argvs[i] : nullptr, maxprocs[i], infos ? resolve(infos[i]) : nullptr, i,
                        &job);
  }
  return spawn_all(comm, root, fit, job, result, errcodes);
}

}  // namespace ashlar::comm
