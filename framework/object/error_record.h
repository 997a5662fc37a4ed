#pragma once
#include "framework/base/failure.h"
#include "framework/plugin/report.h"

namespace ashlar {

struct ErrorSubject;

/// The record of a failed call, made once: report components, the launcher and tools all get this. Its texts live as
/// long as it does, and as the status's.
class ErrorRecord {
 public:
  /// `subject`: the object to name, or nullptr. `ends_job`: the error handler ends the job because of it.
  ErrorRecord(Status status, const char* call, const ErrorSubject* subject, bool ends_job) noexcept;
  ErrorRecord(const ErrorRecord&) = delete;
  ErrorRecord& operator=(const ErrorRecord&) = delete;

  const ashlar_error_record& fields() const { return fields_; }
  /// "MPI_Send on communicator 'solver' (rank 1 of 4) failed: MPI_ERR_RANK (invalid rank): argument dest is 9, ...",
  /// and below it why, and what to do.
  const char* words() const { return words_; }

 private:
  void set_facts();
  void set_subject(const ErrorSubject& subject);
  void put_into_words(const ErrorSubject* subject);

  static constexpr int kWordsBytes = 2560;

  Failure failure_;
  ashlar_fact facts_[Failure::kFacts];
  ashlar_error_record fields_{};
  char words_[kWordsBytes];
};

}  // namespace ashlar
