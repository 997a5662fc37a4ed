#pragma once
#include <string>

namespace ashlar::mpiexec {

/// Where mpiexec's records for programs go: what report component json does in a rank, without loading one.
class RecordFile {
 public:
  /// `wanted`: json takes part in the reports. `pattern`: its file; empty: standard error.
  RecordFile(bool wanted, std::string pattern, std::string host)
      : wanted_(wanted), pattern_(std::move(pattern)), host_(std::move(host)) {}
  ~RecordFile();
  RecordFile(const RecordFile&) = delete;
  RecordFile& operator=(const RecordFile&) = delete;

  bool wanted() const { return wanted_; }
  /// One record, a line. The file is made with the first one; when it cannot be, mpiexec says so once.
  void write(const std::string& line);

 private:
  bool wanted_;
  const std::string pattern_, host_;
  int fd_ = -1;
};

}  // namespace ashlar::mpiexec
