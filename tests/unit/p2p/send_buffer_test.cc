#include "framework/p2p/send_buffer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <vector>

namespace ashlar::test {
namespace {

using p2p::BufferedMessage;
using p2p::SendBuffer;

TEST(SendBuffer, HoldsWhatTheStandardPromisesWhereverItBegins) {
  for (std::size_t offset = 0; offset < 17; ++offset) {
    for (const std::size_t bytes : {0u, 1u, 7u, 4000u}) {
      constexpr std::size_t kMessages = 40;
      std::vector<std::byte> memory(kMessages * (bytes + MPI_BSEND_OVERHEAD) + offset);
      SendBuffer buffer;
      ASSERT_TRUE(buffer.attach(memory.data() + offset, static_cast<MPI_Count>(memory.size() - offset)).ok());
      for (std::size_t i = 0; i < kMessages; ++i) {
        BufferedMessage* const message = buffer.reserve(bytes);
        ASSERT_NE(message, nullptr);
        ASSERT_GE(message->data(), memory.data() + offset);
        ASSERT_LE(message->end(), memory.data() + memory.size());
        std::fill(message->data(), message->end(), std::byte{0xff});
      }
    }
  }
}

/// The circular queue of MPI-5.0, 3.6.1: entries leave from the head only, a new one needs contiguous room behind the
/// tail or at the start.
class CircularQueue {
 public:
  explicit CircularQueue(std::size_t size) : size_(size) {}
  bool add(int id, std::size_t n) {
    while (!entries_.empty() && entries_.front().left) entries_.pop_front();
    if (entries_.empty()) head_ = tail_ = 0;
    std::size_t at;
    const std::size_t head = entries_.empty() ? 0 : entries_.front().at;
    const bool wrapped = !entries_.empty() && tail_ <= head;
    if (wrapped) {
      if (head - tail_ < n) return false;
      at = tail_;
    } else if (size_ - tail_ >= n) {
      at = tail_;
    } else if (!entries_.empty() && head >= n) {
      at = 0;
    } else {
      return false;
    }
    entries_.push_back({id, at, false});
    tail_ = at + n;
    return true;
  }
  void leave(int id) {
    for (auto& entry : entries_)
      if (entry.id == id) entry.left = true;
  }

 private:
  struct Entry {
    int id;
    std::size_t at;
    bool left;
  };
  const std::size_t size_;
  std::size_t head_ = 0, tail_ = 0;
  std::deque<Entry> entries_;
};

TEST(SendBuffer, IsNeverWorseThanTheCircularQueueAndNeverOverlaps) {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    std::mt19937 random(seed);
    std::vector<std::byte> memory(20000);
    SendBuffer buffer;
    ASSERT_TRUE(buffer.attach(memory.data(), static_cast<MPI_Count>(memory.size())).ok());
    CircularQueue model(memory.size());
    bool model_in_step = true;
    std::vector<std::pair<int, BufferedMessage*>> held;
    for (int id = 0; id < 800; ++id) {
      const std::size_t bytes = random() % 3000;
      BufferedMessage* const message = buffer.reserve(bytes);
      if (model_in_step && model.add(id, bytes + MPI_BSEND_OVERHEAD)) {
        ASSERT_NE(message, nullptr) << "seed " << seed << " message " << id << " of " << bytes;
      } else {
        model_in_step = held.empty() && model_in_step;  // a program that obeys the model has failed here
      }
      if (message != nullptr) {
        for (const auto& [other_id, other] : held)
          ASSERT_TRUE(message->end() <= reinterpret_cast<std::byte*>(other) ||
                      other->end() <= reinterpret_cast<std::byte*>(message));
        held.emplace_back(id, message);
      }
      while (!held.empty() && random() % 100 < 45) {
        const std::size_t which = random() % held.size();
        model.leave(held[which].first);
        buffer.give_back(held[which].second);
        held.erase(held.begin() + static_cast<std::ptrdiff_t>(which));
      }
    }
  }
}

TEST(SendBuffer, KnowsWhatHasLeft) {
  std::vector<std::byte> memory(10000);
  SendBuffer buffer;
  EXPECT_TRUE(buffer.empty());
  EXPECT_EQ(buffer.reserve(1), nullptr);
  ASSERT_TRUE(buffer.attach(memory.data(), 10000).ok());
  EXPECT_EQ(buffer.attach(memory.data(), 10000).mpi_class(), MPI_ERR_BUFFER);
  BufferedMessage* const first = buffer.reserve(10);
  const std::uint64_t until = buffer.next_number();
  BufferedMessage* const second = buffer.reserve(10);
  buffer.give_back(second);
  EXPECT_FALSE(buffer.left(until));
  BufferedMessage* const third = buffer.reserve(10);
  buffer.give_back(first);
  EXPECT_TRUE(buffer.left(until));
  EXPECT_FALSE(buffer.empty());
  buffer.give_back(third);
  EXPECT_TRUE(buffer.empty());
  void* memory_back = nullptr;
  MPI_Count size = 0;
  buffer.detach(&memory_back, &size);
  EXPECT_EQ(memory_back, memory.data());
  EXPECT_EQ(size, 10000);
  EXPECT_FALSE(buffer.attached());
}

TEST(SendBuffer, RefusesWithTheNumbers) {
  std::vector<std::byte> memory(5000);
  SendBuffer buffer;
  EXPECT_EQ(buffer.refusal("MPI_Bsend", 3).mpi_class(), MPI_ERR_BUFFER);
  ASSERT_TRUE(buffer.attach(memory.data(), 5000).ok());
  ASSERT_NE(buffer.reserve(1234), nullptr);
  const Status refused = buffer.refusal("MPI_Bsend", 4321);
  EXPECT_EQ(refused.mpi_class(), MPI_ERR_BUFFER);
  for (const char* number : {"4321", "4833", "5000", "1 messages", "1234"})
    EXPECT_NE(std::string(refused.text()).find(number), std::string::npos) << number << " in " << refused.text();
}

}  // namespace
}  // namespace ashlar::test
