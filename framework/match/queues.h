#pragma once
#include <mpi.h>

#include <cstdint>

#include "framework/base/list.h"
#include "framework/base/slab.h"
#include "framework/match/table.h"

namespace ashlar::match {

// Wildcards are the only negative values that reach a queue.
inline bool is_wild(const Key& key) { return (key.source() | key.tag) < 0; }

/// Receives posted before a matching message arrived.
/// A receive is filed under its envelope, wildcards included. For a message therefore up to four keys are looked up,
/// and the oldest receive found is taken: `stamp` is the order in which receives were posted (MPI-5.0, 3.5).
class PostedQueue {
 public:
  /// Files `receive`, whose key is set.
  void post(Entry& receive) {
    receive.stamp = next_stamp_++;
    table_.insert(receive);
    if (is_wild(receive.key)) [[unlikely]] {
      ++wild_[wild_class(receive.key)];
      ++any_wild_;
    }
  }
  /// Removes and returns the receive that takes a message of this key, or nullptr.
  Entry* take(const Key& message) {
    Entry* const exact = table_.find(message);
    if (any_wild_ != 0) [[unlikely]]
      return take_among_wild(message, exact);
    if (exact != nullptr) [[likely]]
      table_.remove(*exact);
    return exact;
  }
  void remove(Entry& receive) {
    table_.remove(receive);
    if (is_wild(receive.key)) [[unlikely]] {
      --wild_[wild_class(receive.key)];
      --any_wild_;
    }
  }
  Table& table() { return table_; }
  /// Whether a receive with a wildcard is posted that could take a message of this key.
  bool has_rival(const Key& message) const;

 private:
  static unsigned wild_class(const Key& key) {
    if (key.tag != MPI_ANY_TAG) return 0;
    return key.source() == MPI_ANY_SOURCE ? 2 : 1;
  }
  Entry* take_among_wild(const Key& message, Entry* best);

  Table table_;
  std::uint64_t next_stamp_ = 0;
  std::uint32_t any_wild_ = 0;  // posted with a wildcard
  std::uint32_t wild_[3] = {};  // of these, the receives with any source; any tag; both
};

struct Message;

/// The entries of one unexpected message under the three keys with which wildcard receives may find it.
struct WildPlaces {
  struct Place : Entry {
    Message* message = nullptr;
  };
  Place any_source, any_tag, any;
};

/// A message that arrived before its receive. Its owner derives from this; it is in the queue exactly while filed().
struct Message : Entry, ListHook {
  WildPlaces* wild = nullptr;
};

/// Messages that arrived before their receives, oldest first for each key.
/// For an exact receive a table is looked up. Wildcard receives walk the list of all messages from the oldest one; when
/// that walk gets long for the first time, every message is also filed under the three wildcard keys, from then on. So
/// programs that use no wildcards, or receive soon, do not pay for it.
class UnexpectedQueue {
 public:
  void add(Message& message) {
    exact_.insert(message);
    order_.push_back(&message);
    if (indexed_) [[unlikely]]
      index(message);
  }
  /// The oldest message that a receive of this key may take, or nullptr. It stays in the queue.
  Message* find(const Key& wanted) {
    if (exact_.count() == 0) return nullptr;
    if (!is_wild(wanted)) [[likely]]
      return static_cast<Message*>(exact_.find(wanted));
    return find_wild(wanted);
  }
  /// The oldest message of exactly this key for which `is(const Message&)` holds, or nullptr.
  template <class Is>
  Message* find_if(const Key& exact, Is is) {
    return static_cast<Message*>(
        exact_.find_if(exact, [&is](const Entry& entry) { return is(static_cast<const Message&>(entry)); }));
  }
  template <class Is>
  Message* find_last_if(const Key& exact, Is is) {
    return static_cast<Message*>(
        exact_.find_last_if(exact, [&is](const Entry& entry) { return is(static_cast<const Message&>(entry)); }));
  }
  void remove(Message& message) {
    exact_.remove(message);
    List<Message>::remove(&message);
    if (message.wild != nullptr) [[unlikely]]
      unindex(message);
  }
  bool empty() const { return exact_.count() == 0; }
  std::size_t count() const { return exact_.count(); }
  List<Message>& in_order() { return order_; }
  std::uint64_t passed() const { return exact_.passed() + wild_.passed() + walked_; }

 private:
  Message* find_wild(const Key& wanted);
  void index(Message& message);
  void unindex(Message& message);

  Table exact_;
  List<Message> order_;
  bool indexed_ = false;
  Table wild_;
  Slab<WildPlaces> places_;
  std::uint64_t walked_ = 0;
};

}  // namespace ashlar::match
