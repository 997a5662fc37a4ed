#pragma once
#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "framework/base/descriptor.h"

namespace ashlar::mpiexec {

/// The names that processes of this mpiexec's jobs, those of further jobs among them, have published
/// (MPI_Publish_name): plugin/name_service.h. Ports are secrets: they are in no log, and only their own processes ask.
class NameService {
 public:
  /// `of_user`: names are kept elsewhere, and the answer to each request says so.
  explicit NameService(bool of_user) : of_user_(of_user) {}

  void admit(Descriptor socket);
  void add(std::vector<pollfd>* fds);
  void handle(const std::vector<pollfd>& fds);
  std::size_t names() const { return names_.size(); }

 private:
  struct Client {
    std::uint64_t number;
    Descriptor socket;
    std::string arrived, out;
  };
  struct Entry {
    std::string port;
    std::uint64_t client;
  };
  bool serve(Client& client, bool readable);
  std::vector<std::string> answer(const Client& client, const std::vector<std::string>& request);

  const bool of_user_;
  std::deque<Client> clients_;
  std::uint64_t admitted_ = 0;
  std::map<std::string, Entry> names_;
  std::size_t first_ = 0, polled_ = 0;  // of the descriptors in the last add()
};

}  // namespace ashlar::mpiexec
