#pragma once
#include <cstdint>
#include <initializer_list>

#include "framework/base/fact.h"
#include "framework/base/status.h"

namespace ashlar {

/// Records a failure of class `mpi_class` (MPI_ERR_...): the message `id` of config/messages.yaml, with what is known.
///   return fail(MPI_ERR_RANK, "argument.rank",
///               {{"argument", "dest"}, {"value", dest}, {"communicator", comm.name}, {"last", comm.size - 1}});
/// The first function that knows the reason calls this. Facts of these names are fields of the error record, whatever
/// the message says of them: argument, value, peer, peer_host, tag, bytes_wanted, bytes_got, component, lower (a lower
/// library's own words). Any thread; allocates nothing but the thread's ring, once.
[[gnu::cold]] Status fail(int mpi_class, const char* id, std::initializer_list<Fact> facts = {}) noexcept;

/// The same for a failure that many operations have at one time, as when their peer has failed. Those with the same
/// class, message and facts are one failure, so that the first ones are not overwritten before anybody reads them.
[[gnu::cold]] Status fail_alike(int mpi_class, const char* id, std::initializer_list<Fact> facts) noexcept;

/// Adds what a level further up knows to the failure that it passes on: the peer's rank and host, the component. A fact
/// that the failure has already stays as it is: the level that failed knows best. Returns `status`; does nothing when
/// that is a success, or its failure was overwritten.
///   return add_facts(status, {{"peer", rank}, {"tag", tag}});
[[gnu::cold]] Status add_facts(Status status, std::initializer_list<Fact> facts) noexcept;

/// A failure in full, on the thread that failed. The texts live as long as the status's text.
class Failure {
 public:
  static constexpr int kFacts = 12;       // what a failure holds; later ones are dropped
  static constexpr int kFactBytes = 512;  // names and texts of all of them; a longer text is cut
  static constexpr int kSentenceBytes = 480;
  static constexpr int kAdviceBytes = 960;

  struct Known {
    const char* name;
    const char* text;
    bool is_number;
    std::int64_t number;  // when it is one
  };

  explicit Failure(Status status) noexcept;

  const char* id = nullptr;           // nullptr: a sentence that is not of the catalogue
  char says[kSentenceBytes] = "";     // what happened
  char because[kSentenceBytes] = "";  // why
  char tries[kAdviceBytes] = "";      // what to do about it; lines separated by newlines
  /// Fields of the record that neither says nor because speaks of: "peer rank 2 (node6), tag 4".
  char around[kSentenceBytes] = "";
  Known facts[kFacts];
  int count = 0;

  /// The fact of that name, or nullptr.
  const Known* find(const char* name) const noexcept;
};

}  // namespace ashlar
