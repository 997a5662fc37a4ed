#include "framework/object/memory_kinds.h"

#include <gtest/gtest.h>

namespace ashlar::memory_kinds {
namespace {

TEST(MemoryKinds, WhatIsAskedForAndKnownIsGivenInThatOrder) {
  EXPECT_EQ(supported(""), "mpi,system");
  EXPECT_EQ(supported("system,mpi"), "system,mpi");
  EXPECT_EQ(supported("cuda:device, system"), "system,mpi");
  EXPECT_EQ(supported("mpi:alloc_mem"), "mpi:alloc_mem,system");
  EXPECT_EQ(supported("mpi:alloc_mem:win_allocate,mpi:alloc_mem:win_allocate,system"),
            "mpi:alloc_mem:win_allocate,system");
  EXPECT_EQ(supported("mpi:nothing,system:host,,"), "mpi,system");
}

TEST(MemoryKinds, APartOfAKindIsWithinIt) {
  EXPECT_TRUE(within("system", "mpi,system"));
  EXPECT_TRUE(within("mpi:alloc_mem,system", "mpi,system"));
  EXPECT_TRUE(within("mpi:win_allocate:alloc_mem", "mpi:alloc_mem"));
  EXPECT_FALSE(within("mpi", "mpi:alloc_mem,system"));
  EXPECT_FALSE(within("cuda", "mpi,system"));
  EXPECT_FALSE(within("", "mpi,system"));
}

}  // namespace
}  // namespace ashlar::memory_kinds
