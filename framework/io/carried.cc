#include "framework/io/carried.h"

#include "framework/base/failure.h"

namespace ashlar::io {

void Carried::take(Status status) {
  class_ = status.mpi_class();
  id_.clear();
  facts_.clear();
  if (status.ok()) return;
  const Failure failure(status);
  text_ = status.text();
  if (failure.id == nullptr) return;
  id_ = failure.id;
  for (int i = 0; i < failure.count; ++i) {
    const Failure::Known& one = failure.facts[i];
    facts_.push_back({.name = one.name, .text = one.is_number ? std::to_string(one.number) : std::string(one.text)});
  }
}

Status Carried::give(int mpi_class) const {
  if (class_ == 0) return {};
  if (id_.empty()) return fail(mpi_class, "io.words", {{"lower", text_}});
  Status status = fail(mpi_class, id_.c_str());
  for (const Known& one : facts_) status = add_facts(status, {{one.name.c_str(), one.text}});
  return status;
}

Status with_class(Status failure, int mpi_class) {
  if (failure.mpi_class() == mpi_class) return failure;
  Carried carried;
  carried.take(failure);
  return carried.give(mpi_class);
}

}  // namespace ashlar::io
