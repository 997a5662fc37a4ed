#pragma once
#include <string>
#include <utility>
#include <vector>

#include "framework/base/status.h"

namespace ashlar::io {

/// A failure on its way from the thread that met it, whose ring holds its text, to the one that reports it.
class Carried {
 public:
  /// On the thread that failed.
  void take(Status status);
  /// On the thread that reports: the same class, message and facts.
  Status give() const { return give(class_); }
  /// The same with another class: a collective call has one on all processes.
  Status give(int mpi_class) const;
  bool ok() const { return class_ == 0; }
  int mpi_class() const { return class_; }

 private:
  struct Known {
    std::string name, text;
  };
  int class_ = 0;
  std::string id_, text_;
  std::vector<Known> facts_;
};

/// The same failure with another class.
Status with_class(Status failure, int mpi_class);

}  // namespace ashlar::io
