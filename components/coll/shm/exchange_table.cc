#include "components/coll/shm/exchange_table.h"

#include <cstring>

namespace ashlar::coll::shm {
namespace {

/// The numbers of rows, in the rank's line: a rank that has waited for the flag has that line in its cache.
struct Head {
  std::int32_t sent, received;
};
static_assert(sizeof(Head) <= kInline);

}  // namespace

int Edges::earlier_to(int block) const {
  int count = 0;
  for (int i = 0; i < block; ++i) count += receiver(i) == receiver(block) ? 1 : 0;
  return count;
}
int Edges::earlier_from(int step) const {
  int count = 0;
  for (int i = 0; i < step; ++i) count += sender(in_order(i)) == sender(in_order(step)) ? 1 : 0;
  return count;
}

Table Table::of(const Ticket& ticket, const Edges& edges, Rank r) {
  const auto rank = static_cast<std::uint32_t>(r);
  Table table{.rows = ticket.buffer(rank), .sent = edges.sent(), .received = edges.received()};
  if (!edges.of_topology()) return table;
  Head head;
  std::memcpy(&head, ticket.line(rank).data, sizeof head);
  table.sent = head.sent;
  table.received = head.received;
  return table;
}

Table Table::begin_own(const Ticket& ticket, const Edges& edges) {
  const Head head{.sent = edges.sent(), .received = edges.received()};
  std::memcpy(ticket.line(ticket.me()).data, &head, sizeof head);
  return Table{.rows = ticket.buffer(ticket.me()), .sent = head.sent, .received = head.received};
}

int Table::nth_to(Rank to, int n) const {
  for (int i = 0; i < sent; ++i) {
    if (out(i).to == to && n-- == 0) return i;
  }
  return -1;
}
int Table::nth_from(const Edges& order, Rank from, int n) const {
  for (int i = 0; i < received; ++i) {
    const int at = order.in_order(i);
    if (at < received && in(at).from == from && n-- == 0) return at;
  }
  return -1;
}

void Table::set_unable() const {
  for (int i = 0; i < sent; ++i) out(i).bytes = kUnable;
  for (int i = 0; i < received; ++i) in(i).bytes = kUnable;
}

}  // namespace ashlar::coll::shm
