#include "mpiexec/tool_pages.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "framework/plugin/tool_memory.h"

namespace ashlar::mpiexec {
namespace {

using plugin::ToolMemory;

constexpr std::uint64_t kPage = 4096, kBytes = plugin::kToolPage + (4 << 20);

/// A board with the tools' memory of three ranks, and a second one to which pieces are carried.
struct Boards {
  Board here, there;
  ToolPages pages;
  std::set<std::uint64_t> carried;  // pages
  std::size_t pieces = 0;

  Boards() : pages(here, {0, 2}) {
    for (Board* board : {&here, &there}) {
      BoardFacts facts;
      facts.job_id = "test";
      facts.ranks = facts.universe = 3;
      facts.tool_bytes = kBytes;
      EXPECT_TRUE(board->make(facts).ok());
    }
  }
  static char* memory(Board& board, unsigned rank) {
    return launch::board_at<char>(board.header(), board.header()->tools + rank * board.header()->tool_bytes);
  }
  void fill(unsigned rank, std::uint64_t page, char with) {
    std::memset(memory(here, rank) + page * kPage, with, kPage);
  }
  void carry(bool whole) {
    carried.clear();
    pieces = 0;
    pages.begin(whole);
    for (ToolPages::Piece piece; pages.next(&piece); ++pieces) {
      EXPECT_EQ(piece.bytes.size() % kPage, 0u);
      std::memcpy(memory(there, piece.rank) + piece.offset, piece.bytes.data(), piece.bytes.size());
      for (std::uint64_t at = 0; at < piece.bytes.size(); at += kPage) carried.insert((piece.offset + at) / kPage);
    }
    EXPECT_FALSE(pages.left());
  }
  bool same(unsigned rank) { return std::memcmp(memory(here, rank), memory(there, rank), kBytes) == 0; }
};

TEST(ToolPages, OfNothingThereIsNoPiece) {
  Boards boards;
  EXPECT_FALSE(boards.pages.left());
  boards.carry(true);
  EXPECT_EQ(boards.pieces, 0u);
}

TEST(ToolPages, WhatIsNotZeroArrives) {
  Boards boards;
  for (const unsigned rank : {0u, 1u, 2u})
    for (const std::uint64_t page : {0u, 1u, 5u, 6u, 7u, 300u, 1024u})
      boards.fill(rank, page, static_cast<char>(1 + rank));
  boards.fill(0, 900, 0);  // a page that is there, and is zero
  boards.carry(true);
  EXPECT_TRUE(boards.same(0));
  EXPECT_TRUE(boards.same(2));
  EXPECT_EQ(boards.carried, (std::set<std::uint64_t>{0, 1, 5, 6, 7, 300, 1024}));
  EXPECT_EQ(boards.memory(boards.there, 1)[0], 0);  // it is another host's
}

TEST(ToolPages, LongOnesComeInPieces) {
  Boards boards;
  for (std::uint64_t page = 0; page < 1000; ++page) boards.fill(2, page, 'x');
  boards.carry(true);
  EXPECT_TRUE(boards.same(2));
  EXPECT_EQ(boards.pieces, (1000 * kPage + (256 * 1024 - 1)) / (256 * 1024));
}

TEST(ToolPages, WhatHasBecomeZeroArrivesToo) {
  Boards boards;
  for (std::uint64_t page = 0; page < 20; ++page) boards.fill(0, page, 'x');
  boards.carry(true);
  boards.fill(0, 3, 0);
  ASSERT_EQ(madvise(boards.memory(boards.here, 0) + 10 * kPage, 5 * kPage, MADV_REMOVE), 0);
  boards.carry(true);
  EXPECT_TRUE(boards.same(0));
}

TEST(ToolPages, SamplesHaveTheirPart) {
  Boards boards;
  auto& memory = *reinterpret_cast<ToolMemory*>(boards.memory(boards.here, 0));
  memory.rows[0] = {.name = "one", .offset = kPage, .bytes = 100 * kPage, .sampled = 2 * kPage + 1};
  memory.rows[1] = {.name = "two", .offset = 101 * kPage + 64, .bytes = 100 * kPage, .sampled = kPage};
  memory.count.store(2);
  for (std::uint64_t page = 1; page < 300; ++page) boards.fill(0, page, 'x');
  boards.carry(false);
  EXPECT_EQ(boards.carried, (std::set<std::uint64_t>{0, 1, 2, 3, 101, 102}));
  boards.carry(true);
  EXPECT_TRUE(boards.same(0));
}

// The rank may have written anything over its table.
TEST(ToolPages, ATableThatCannotBeBelievedIsNotFollowed) {
  Boards boards;
  auto& memory = *reinterpret_cast<ToolMemory*>(boards.memory(boards.here, 0));
  memory.rows[0] = {.name = "one", .offset = kBytes + kPage, .bytes = 1, .sampled = 1};
  memory.rows[1] = {.name = "two", .offset = kPage, .bytes = 1, .sampled = ~std::uint64_t{0}};
  memory.rows[2] = {.name = "three", .offset = ~std::uint64_t{0}, .bytes = 1, .sampled = 8};
  memory.count.store(77);
  boards.carry(false);
  EXPECT_EQ(boards.carried, (std::set<std::uint64_t>{0}));
}

}  // namespace
}  // namespace ashlar::mpiexec
