#pragma once
#include <poll.h>

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "framework/base/descriptor.h"
#include "mpiexec/pmix_message.h"

namespace ashlar::mpiexec {

class PmixListener;

/// A PMIx server's connections to mpiexec: one to the hub (pmix_hub.h), and one for each job that it has asked for.
/// libpmix's thread asks, and must not be kept; the loop of the process writes what did not fit, and reads.
class PmixLink {
 public:
  using Answer = std::function<void(PmixMessage&)>;
  /// What comes from the hub and is no answer.
  using News = std::function<void(PmixMessage&)>;
  /// The job that was asked for has this name, or (empty) does not start.
  using Started = std::function<void(const std::string& job)>;

  /// False: the system refuses a connection.
  bool open(PmixListener* listener, News news);
  /// Any thread.
  void tell(const PmixMessage& message);
  /// The answer comes in the thread of handle(). False: there is no hub any more.
  bool ask(PmixMessage message, Answer answer);
  bool ask_for_job(const std::string& request, Started started);

  /// No more is asked, and nothing answered.
  void close();

  std::vector<Descriptor> take_calls();
  void add(std::vector<pollfd>* fds);
  void handle(const std::vector<pollfd>& fds);

 private:
  struct Call {
    Descriptor socket;
    std::string arrived, out;
    Started started;  // of a further job
    std::string job;
    bool over = false;
  };
  Call* make_call();
  void write_some(Call& call);
  void read_some(Call& call);
  void take_answers(Call& call, std::vector<std::function<void()>>* todo);
  void take_job(Call& call, std::vector<std::function<void()>>* todo);
  void expect(const std::string& job, std::uint64_t question);

  std::mutex mutex_;
  PmixListener* listener_ = nullptr;
  News news_;
  std::list<Call> calls_;  // the first is the hub's
  std::vector<Descriptor> to_take_;
  std::map<std::uint64_t, Answer> asked_;
  std::uint64_t questions_ = 0;
  std::size_t first_ = 0, polled_ = 0;  // of the descriptors in the last add()
};

}  // namespace ashlar::mpiexec
