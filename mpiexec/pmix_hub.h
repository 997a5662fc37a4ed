#pragma once
#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "framework/base/descriptor.h"
#include "mpiexec/pmix_message.h"

namespace ashlar::mpiexec {

/// Where the PMIx servers of all hosts meet, those of further jobs among them: libpmix's servers do not speak to each
/// other. Each has a connection, and what it asks is answered by what others have sent, or is passed to the one that
/// knows it. In the first mpiexec alone, like the names (name_service.h).
class PmixHub {
 public:
  /// `most`: bytes that the processes of a fence give to each other, all together.
  explicit PmixHub(std::uint64_t most) : most_(most) {}

  void admit(Descriptor socket);
  void add(std::vector<pollfd>* fds);
  void handle(const std::vector<pollfd>& fds, std::uint64_t now);
  /// When a question has waited long enough; the largest number: none does.
  std::uint64_t next_ns() const;
  /// The process is gone, and its server may be, too.
  void ended(const PmixProcess& process);
  std::size_t servers() const { return servers_.size(); }

 private:
  struct Server {
    std::uint64_t number;
    Descriptor socket;
    std::string arrived, out;
    std::vector<PmixProcess> processes;
    bool left = false;
  };
  struct Space {
    std::uint32_t ranks = 0;
    std::map<std::uint32_t, std::uint64_t> server_of;  // by rank
    std::set<std::uint32_t> gone;
    bool expected = false;  // its first server has not come yet
  };
  /// A fence and its like, until all have come.
  struct Meeting {
    struct Part {
      std::uint64_t server, number;
      bool partial;
      std::string data;
    };
    std::vector<PmixProcess> processes;
    std::vector<Part> parts;
  };
  /// A question that another server answers.
  struct Fetch {
    std::uint64_t asker, number, owner;  // owner 0: it has not come yet
    PmixProcess process;
  };
  struct Published {
    PmixMessage::Value value;
    std::uint64_t server;
    bool here_only, once, with_owner;
  };
  struct Waiting {
    std::uint64_t server;
    PmixMessage question;
    std::uint64_t until_ns;
  };

  bool serve(Server& server, bool readable, std::uint64_t now);
  void handle(Server& from, PmixMessage& message, std::uint64_t now);
  void hello(Server& from, const PmixMessage& message);
  void join(const Server& from, PmixMessage& message);
  void look_at_meetings();
  bool is_over(const Meeting& meeting, bool* partial) const;
  void close(const Meeting& meeting, bool partial);
  void fetch(const Fetch& fetch);
  void look_at_fetches();
  void fetched(const Server& from, PmixMessage& message);
  PmixOutcome publish(const Server& from, const PmixMessage& message);
  void withdraw(const PmixMessage& message);
  bool look_up(std::uint64_t server, const PmixMessage& question, bool late);
  void look_at_waiting(std::uint64_t now);
  void drop(const Server& server);
  void send(std::uint64_t server, const PmixMessage& message);
  void answer(std::uint64_t server, std::uint64_t number, PmixOutcome outcome);

  const std::uint64_t most_;
  std::deque<Server> servers_;
  std::uint64_t admitted_ = 0, fetches_so_far_ = 0;
  std::map<std::string, Space> spaces_;
  std::map<std::pair<char, std::vector<PmixProcess>>, Meeting> meetings_;
  std::map<std::uint64_t, Fetch> fetches_;
  std::vector<Published> published_;
  std::vector<Waiting> waiting_;
  std::size_t first_ = 0, polled_ = 0;  // of the descriptors in the last add()
};

}  // namespace ashlar::mpiexec
