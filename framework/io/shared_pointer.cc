#include "framework/io/shared_pointer.h"

#include <atomic>

#include "framework/base/failure.h"
#include "framework/datatype/datatype.h"
#include "framework/datatype/reduce_op.h"
#include "framework/io/file.h"
#include "framework/rma/api.h"

namespace ashlar::io {
namespace {

std::atomic<std::int64_t>& word(OpenFile& file, std::uint32_t generation) {
  return file.shared->pointers[generation % SharedPointers::kViews];
}

Status none(const OpenFile& file) {
  return fail(MPI_ERR_UNSUPPORTED_OPERATION, "io.no_shared", {{"path", file.path}, {"lower", file.why_not_shared}});
}

}  // namespace

void SharedPointers::make(OpenFile& file) {
  if (file.shared != nullptr) return;
  void* words = nullptr;
  const MPI_Aint bytes = file.comm->rank == 0 ? kViews * sizeof(MPI_Offset) : 0;
  Status made = rma::win_allocate(bytes, sizeof(MPI_Offset), nullptr, *file.comm, &words, &window_);
  if (made.ok()) {
    for (MPI_Aint i = 0; i * static_cast<MPI_Aint>(sizeof(MPI_Offset)) < bytes; ++i)
      static_cast<MPI_Offset*>(words)[i] = 0;
    made = rma::win_lock_all(MPI_MODE_NOCHECK, *window_);
  }
  if (!made.ok()) file.why_not_shared = made.text();
}

void SharedPointers::drop() {
  if (window_ == nullptr) return;
  static_cast<void>(rma::win_unlock_all(*window_));
  static_cast<void>(rma::win_free(&window_));
  window_ = nullptr;
}

bool SharedPointers::there(const OpenFile& file) const { return file.shared != nullptr || window_ != nullptr; }

Status SharedPointers::add(OpenFile& file, MPI_Offset by, MPI_Offset* before) {
  if (file.shared != nullptr) {
    *before = word(file, file.generation).fetch_add(by, std::memory_order_relaxed);
    return {};
  }
  return window_ != nullptr ? update(file.generation, MPI_SUM, by, before) : none(file);
}

Status SharedPointers::read(OpenFile& file, MPI_Offset* at) {
  if (file.shared != nullptr) {
    *at = word(file, file.generation).load(std::memory_order_relaxed);
    return {};
  }
  return window_ != nullptr ? update(file.generation, MPI_NO_OP, 0, at) : none(file);
}

Status SharedPointers::store(OpenFile& file, std::uint32_t generation, MPI_Offset at) {
  if (file.shared != nullptr) {
    word(file, generation).store(at, std::memory_order_relaxed);
    return {};
  }
  MPI_Offset before = 0;
  return window_ != nullptr ? update(generation, MPI_REPLACE, at, &before) : none(file);
}

Status SharedPointers::update(std::uint32_t generation, MPI_Op op, MPI_Offset value, MPI_Offset* before) {
  const std::lock_guard guard(turn_);
  ASHLAR_TRY(rma::fetch_and_op(&value, before, datatype::predefined(MPI_OFFSET), 0, generation % kViews,
                               datatype::predefined_op(op), *window_));
  return rma::win_flush(0, *window_);
}

}  // namespace ashlar::io
