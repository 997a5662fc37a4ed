#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include "framework/base/types.h"

namespace ashlar::match {

/// The envelope of a message, or the one that a receive matches: (context, source) in one word, and the tag. In a
/// receive, source and tag may be the wildcards; they are values like any other here.
struct Key {
  std::uint64_t where;  // context << 32 | source
  Tag tag;

  static std::uint64_t place(std::uint32_t context, Rank source) {
    return std::uint64_t{context} << 32 | static_cast<std::uint32_t>(source);
  }
  std::uint32_t context() const { return static_cast<std::uint32_t>(where >> 32); }
  Rank source() const { return static_cast<Rank>(static_cast<std::uint32_t>(where)); }
  bool operator==(const Key&) const = default;
};

struct Node {
  Node* previous = nullptr;
  Node* next = nullptr;
};

/// A receive or a message, filed under its key. `stamp` orders entries of different keys; those of one key keep the
/// order of insertion.
struct Entry : Node {
  Key key = {};
  std::uint64_t stamp = 0;

  bool filed() const { return next != nullptr; }
};

/// Entries by key: insert, remove and find-the-oldest at a cost that does not depend on how many there are, as long as
/// keys differ or the oldest of a key is wanted. The table owns no entry. The lane's lock guards it.
class Table {
 public:
  Table();
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  /// Files `entry` as the newest of its key.
  void insert(Entry& entry) {
    if (count_ > mask_) [[unlikely]]
      grow();
    ++count_;
    append(buckets_[slot(entry.key)], entry);
  }
  void remove(Entry& entry) {
    entry.previous->next = entry.next;
    entry.next->previous = entry.previous;
    entry.previous = entry.next = nullptr;
    --count_;
  }
  /// The oldest entry of exactly this key, or nullptr.
  Entry* find(const Key& key) const {
    const Node& bucket = buckets_[slot(key)];
    for (Node* node = bucket.next; node != &bucket; node = node->next) {
      Entry* const entry = static_cast<Entry*>(node);
      if (entry->key.where == key.where && entry->key.tag == key.tag) [[likely]]
        return entry;
      ++passed_;
    }
    return nullptr;
  }
  /// The oldest entry of exactly this key for which `is(Entry&)` holds, or nullptr. Message path.
  template <class Is>
  Entry* find_if(const Key& key, Is is) const {
    const Node& bucket = buckets_[slot(key)];
    for (Node* node = bucket.next; node != &bucket; node = node->next) {
      Entry* const entry = static_cast<Entry*>(node);
      if (entry->key.where == key.where && entry->key.tag == key.tag && is(*entry)) return entry;
    }
    return nullptr;
  }
  /// The newest such entry.
  template <class Is>
  Entry* find_last_if(const Key& key, Is is) const {
    const Node& bucket = buckets_[slot(key)];
    for (Node* node = bucket.previous; node != &bucket; node = node->previous) {
      Entry* const entry = static_cast<Entry*>(node);
      if (entry->key.where == key.where && entry->key.tag == key.tag && is(*entry)) return entry;
    }
    return nullptr;
  }
  /// Entries of the same key that were inserted before `entry` and are still here; `limit` when there are more.
  std::size_t ahead_of(const Entry& entry, std::size_t limit) const {
    const Node& bucket = buckets_[slot(entry.key)];
    std::size_t ahead = 0;
    for (const Node* node = entry.previous; node != &bucket && ahead < limit; node = node->previous)
      if (static_cast<const Entry*>(node)->key == entry.key) ++ahead;
    return ahead;
  }
  /// Calls visit(Entry&) for those that were inserted after it, oldest first; visit changes nothing here.
  template <class Visit>
  void each_behind(Entry& entry, Visit visit) {
    const Node& bucket = buckets_[slot(entry.key)];
    for (Node* node = entry.next; node != &bucket; node = node->next)
      if (static_cast<Entry*>(node)->key == entry.key) visit(*static_cast<Entry*>(node));
  }
  std::size_t count() const { return count_; }
  /// Entries visited in vain since the start: what matching costs beyond the least possible.
  std::uint64_t passed() const { return passed_; }

  /// Calls visit(Entry&) for every entry, in no particular order; visit may remove the entry it is given. Set-up path.
  template <class Visit>
  void each(Visit visit) {
    for (std::size_t i = 0; i <= mask_; ++i) {
      Node& bucket = buckets_[i];
      for (Node* node = bucket.next; node != &bucket;) {
        Node* const following = node->next;
        visit(*static_cast<Entry*>(node));
        node = following;
      }
    }
  }

 private:
  std::size_t slot(const Key& key) const {
    // Sources and tags are small and consecutive: multiplying by odd constants and taking the top bits spreads them.
    const std::uint64_t mixed =
        key.where * 0x9e3779b97f4a7c15u + static_cast<std::uint32_t>(key.tag) * std::uint64_t{0xd1b54a32d192ed03u};
    return static_cast<std::size_t>(mixed >> shift_);
  }
  static void append(Node& bucket, Node& entry) {
    entry.previous = bucket.previous;
    entry.next = &bucket;
    bucket.previous->next = &entry;
    bucket.previous = &entry;
  }
  void grow();
  static std::unique_ptr<Node[]> make(std::size_t buckets);

  std::unique_ptr<Node[]> buckets_;
  std::size_t mask_;
  unsigned shift_;
  std::size_t count_ = 0;
  mutable std::uint64_t passed_ = 0;
};

}  // namespace ashlar::match
