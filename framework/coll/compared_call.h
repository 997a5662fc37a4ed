#pragma once
#include <mpi.h>

#include <cstdint>

#include "framework/base/fact.h"
#include "framework/base/status.h"
#include "framework/base/types.h"
#include "framework/coll/collective.h"

/// What all ranks of a collective must call alike (MPI-5.0, 6.1), and the sentences when they do not. Ranks find out in
/// messages (mismatch.h) and in shared memory (components/coll/shm/segment/mismatch.h).
namespace ashlar::coll {

/// Of one rank's call, what must be the same on every rank.
struct ComparedCall {
  Collective what = Collective::kBarrier;
  Rank root = 0;
  std::uint64_t bytes = 0;  // the quantity (quantity_of)

  bool operator==(const ComparedCall&) const = default;
};

/// A rank of a communicator; of an intercommunicator in its "local" or its "remote" group.
struct Member {
  Rank rank = 0;
  const char* group = nullptr;
};

/// A member as a fact: the number, or "3 of the remote group".
class MemberFact {
 public:
  MemberFact(const char* name, Member member);
  operator Fact() const { return *text_ != '\0' ? Fact(name_, text_) : Fact(name_, rank_); }

 private:
  const char* const name_;
  const Rank rank_;
  char text_[48] = "";
};

/// "MPI_Allreduce".
struct CallName {
  char text[40];
  explicit CallName(Collective what);
};

/// The failure of a collective whose call differs from that of `member`: in which collective it is, in the root, or in
/// the bytes. `at_least`: theirs.bytes is a lower bound.
[[gnu::cold]] Status calls_differ(const ComparedCall& mine, Member member, const ComparedCall& theirs,
                                  bool at_least = false);

/// The failure of a block, or a message, of another size than its receiver expects.
[[gnu::cold]] Status sizes_differ(Rank sender, MPI_Count sent, Rank receiver, MPI_Count expected);

}  // namespace ashlar::coll
