#pragma once
#include <cstdint>
#include <vector>

#include "framework/base/status.h"
#include "framework/base/types.h"

namespace ashlar {
class Comm;
class Group;
}  // namespace ashlar
namespace ashlar::comm {

/// Messages of 64-bit words between members of `comm` while communicators are made: on its collective context, under
/// tags that no collective uses. In an intercommunicator, ranks are those of the remote group.
class Words {
 public:
  Words(Comm& comm, int tag);
  Status send(Rank to, const std::int64_t* values, int count);
  Status receive(Rank from, std::int64_t* values, int count);
  /// Both at once with the same process.
  Status trade(Rank with, const std::int64_t* mine, int my_count, std::int64_t* theirs, int their_count);

 private:
  Comm& comm_;
  const int tag_;
};

/// A group as words that every process understands, of whatever job, in as few as its form allows.
std::vector<std::int64_t> words_of(const Group& group);
/// Whether two groups that are given so are of one and the same job, whose processes know each other.
bool are_of_one_job(const std::vector<std::int64_t>& one, const std::vector<std::int64_t>& other);
/// Its members; kNobody's numbers are for introduce() (roster.h).
std::vector<Identity> identities_in(const std::vector<std::int64_t>& words);
/// The group behind the words, whose members this process knows. nullptr: no memory.
Group* group_from(const std::vector<std::int64_t>& words);

}  // namespace ashlar::comm
