#include "framework/coll/compared_call.h"

#include <cctype>
#include <cstdio>

#include "framework/base/failure.h"

namespace ashlar::coll {

MemberFact::MemberFact(const char* name, Member member) : name_(name), rank_(member.rank) {
  if (member.group != nullptr) std::snprintf(text_, sizeof text_, "%d of the %s group", member.rank, member.group);
}

CallName::CallName(Collective what) {
  const char* const name = name_of(what);
  std::snprintf(text, sizeof text, "MPI_%c%s", std::toupper(static_cast<unsigned char>(name[0])), name + 1);
}

Status calls_differ(const ComparedCall& mine, Member member, const ComparedCall& theirs, bool at_least) {
  const MemberFact peer("peer", member);
  if (theirs.what != mine.what) {
    return fail(MPI_ERR_OTHER, "coll.other_collective",
                {peer, {"theirs", CallName(theirs.what).text}, {"mine", CallName(mine.what).text}});
  }
  if (theirs.root != mine.root)
    return fail(MPI_ERR_ROOT, "coll.other_root", {peer, {"theirs", theirs.root}, {"mine", mine.root}});
  char bytes[40];
  std::snprintf(bytes, sizeof bytes, "%s%llu", at_least ? "at least " : "",
                static_cast<unsigned long long>(theirs.bytes));
  return fail(theirs.bytes > mine.bytes ? MPI_ERR_TRUNCATE : MPI_ERR_COUNT, "coll.other_bytes",
              {peer, {"theirs", bytes}, {"quantity", quantity_of(mine.what)}, {"mine", mine.bytes}});
}

Status sizes_differ(Rank sender, MPI_Count sent, Rank receiver, MPI_Count expected) {
  return fail(sent > expected ? MPI_ERR_TRUNCATE : MPI_ERR_COUNT, "coll.other_block",
              {{"sender", sender}, {"bytes_got", sent}, {"receiver", receiver}, {"bytes_wanted", expected}});
}

}  // namespace ashlar::coll
