#pragma once
#include <map>
#include <mutex>
#include <string>

#include "framework/base/descriptor.h"
#include "framework/base/status.h"

namespace ashlar::comm {

/// The names under which this process has made ports known on its host, where no launcher has names. No server and no
/// file: a name is an abstract socket, so that there is one of a name, and nameless memory of this process that holds
/// the port; both are gone with the process. A look-up finds the process behind the socket, and that memory among its
/// descriptors. Any thread.
class Names {
 public:
  /// Fails with MPI_ERR_SERVICE when the name is taken, by this or another process.
  Status publish(const char* service, const char* port);
  /// Fails with MPI_ERR_SERVICE when this process has not published that port under the name.
  Status unpublish(const char* service, const char* port);
  /// Fails with MPI_ERR_NAME when the name is not published.
  static Status look_up(const char* service, std::string* port);

 private:
  struct Entry {
    Descriptor claim, memory;
    std::string port;
  };
  std::mutex mutex_;
  std::map<std::string, Entry> published_;  // by key; guarded by mutex_
};

}  // namespace ashlar::comm
