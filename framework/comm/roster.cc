#include "framework/comm/roster.h"

#include <mpi.h>

#include <cstring>
#include <string>
#include <string_view>

#include "framework/base/failure.h"
#include "framework/coll/api.h"
#include "framework/comm/engine.h"
#include "framework/comm/inter_exchange.h"
#include "framework/comm/outside.h"
#include "framework/comm/words.h"
#include "framework/datatype/datatype.h"
#include "framework/object/comm.h"
#include "framework/object/group.h"
#include "framework/object/handle.h"

namespace ashlar::comm {
namespace {

/// The length in bytes, then the bytes.
std::vector<std::int64_t> packed(const std::string& card) {
  std::vector<std::int64_t> words(1 + (card.size() + 7) / 8);
  words[0] = static_cast<std::int64_t>(card.size());
  std::memcpy(words.data() + 1, card.data(), card.size());
  return words;
}

/// The cards of all members, in the order of ranks, at every member.
Status collect_cards(Comm& local, std::vector<std::int64_t>* all) {
  const std::vector<std::int64_t> mine = packed(Engine::current().outside->own_card());
  const auto own_words = static_cast<std::int64_t>(mine.size());
  std::vector<std::int64_t> lengths;
  ASHLAR_TRY(gather_words(local, &own_words, 1, &lengths));
  std::vector<int> counts, places;
  std::int64_t total = 0;
  for (const std::int64_t length : lengths) {
    places.push_back(static_cast<int>(total));
    counts.push_back(static_cast<int>(length));
    total += length;
  }
  all->resize(static_cast<std::size_t>(total));
  if (local.size == 1) {
    *all = mine;
    return {};
  }
  Datatype& word = *resolve(MPI_INT64_T);
  return coll::allgatherv(mine.data(), own_words, word, all->data(), counts.data(), places.data(), word, local);
}

/// Whether all members of the two groups are on this process's node. Every member of both finds the same.
Status are_neighbours(const Span& span, bool* all) {
  Services& services = Engine::current().services;
  const Group& own = *span.local.local_group;
  const std::uint64_t node = services.node_identity(own[0]);
  bool one = true;
  for (Rank r = 1; one && r < own.size(); ++r) one = services.node_identity(own[r]) == node;
  std::vector<std::int64_t> theirs;
  ASHLAR_TRY(span.trade({static_cast<std::int64_t>(node), one ? 1 : 0}, &theirs));
  *all = one && theirs.size() == 2 && theirs[1] == 1 && theirs[0] == static_cast<std::int64_t>(node);
  return {};
}

Status introduce(const std::vector<Identity>& who, const std::vector<std::int64_t>& cards, Introduced* guests) {
  std::size_t at = 0;
  for (const Identity& member : who) {
    const auto bytes = at < cards.size() ? static_cast<std::size_t>(cards[at]) : 0;
    const std::size_t words = 1 + (bytes + 7) / 8;
    if (at >= cards.size() || words > cards.size() - at)
      return fail(MPI_ERR_OTHER, "comm.cards_short", {{"count", who.size()}});
    const std::string_view card(reinterpret_cast<const char*>(cards.data() + at + 1), bytes);
    PeerId number = kNobody;
    ASHLAR_TRY(Engine::current().outside->introduce(member, card, &number));
    guests->add(number);
    at += words;
  }
  return {};
}

}  // namespace

Introduced::~Introduced() {
  for (const PeerId peer : peers_) Engine::current().outside->let_go(peer);
}

Status introduce_groups(const Span& span, const std::vector<std::int64_t>& theirs, Introduced* guests) {
  Status known;
  bool neighbours = true;
  ASHLAR_TRY(are_neighbours(span, &neighbours));
  if (!neighbours) Engine::current().outside->reach_other_nodes();
  std::vector<std::int64_t> our_cards, their_cards;
  ASHLAR_TRY(collect_cards(span.local, &our_cards));
  ASHLAR_TRY(span.trade(our_cards, &their_cards));
  known = introduce(identities_in(theirs), their_cards, guests);
  std::int64_t failed = known.mpi_class();
  ASHLAR_TRY(span.max(&failed, 1));
  ASHLAR_TRY(known);
  return failed == MPI_SUCCESS ? Status() : fail(static_cast<int>(failed), "comm.not_introduced");
}

}  // namespace ashlar::comm
