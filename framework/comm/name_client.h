#pragma once
#include <mutex>
#include <string>
#include <vector>

#include "framework/base/descriptor.h"
#include "framework/base/status.h"

namespace ashlar::comm {

/// The launcher's name service, for processes that have one (plugin/name_service.h). The connection is made by the
/// first call that needs it, and kept as long as the process: its end takes back what was published over it. Any
/// thread.
class NameClient {
 public:
  /// Asks, and waits for the answer. *answer is empty where the launcher has no names, and those of the host serve.
  /// Fails with MPI_ERR_OTHER when the launcher does not answer.
  Status ask(const std::vector<std::string>& request, std::vector<std::string>* answer);

 private:
  Status exchange(const std::vector<std::string>& request, std::vector<std::string>* answer);

  std::mutex mutex_;  // guards the rest
  bool tried_ = false;
  Descriptor socket_;  // none: the launcher has no names
  std::string arrived_;
};

}  // namespace ashlar::comm
