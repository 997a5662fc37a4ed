#include "components/coll/shm/segment/mapping.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

namespace ashlar::coll::shm {
namespace {

TEST(Mapping, TwoMappingsShareTheMemory) {
  SegmentMapping made, attached;
  SegmentHandle handle{};
  ASSERT_TRUE(made.make(3, 4096, /*flat=*/true, &handle).ok());
  ASSERT_TRUE(attached.attach(handle).ok());
  EXPECT_EQ(attached.layout().ranks(), 3u);
  EXPECT_EQ(attached.layout().header().flat, 1u);
  EXPECT_NE(&made.layout().header(), &attached.layout().header());
  made.layout().contribution(7, 2).flag.store(42);
  EXPECT_EQ(attached.layout().contribution(7, 2).flag.load(), 42u);
  made.all_attached();
  attached.layout().result(7).flag.store(43);
  EXPECT_EQ(made.layout().result(7).flag.load(), 43u) << "the memory outlives the descriptor";
  SegmentMapping late;
  EXPECT_FALSE(late.attach(handle).ok());
}

TEST(Mapping, AnotherFileIsNotTakenForTheSegment) {
  SegmentMapping made, attached;
  SegmentHandle handle{};
  ASSERT_TRUE(made.make(2, 4096, false, &handle).ok());
  SegmentHandle wrong = handle;
  wrong.nonce ^= 1;
  EXPECT_FALSE(attached.attach(wrong).ok());
  wrong = handle;
  wrong.buffer_bytes *= 2;  // a longer segment than the file
  const Status longer = SegmentMapping().attach(wrong);
  EXPECT_NE(std::string(longer.text()).find("is not the segment of this communicator"), std::string::npos);
  wrong = handle;
  wrong.fd = open("/dev/null", O_RDWR | O_CLOEXEC);
  EXPECT_FALSE(SegmentMapping().attach(wrong).ok());
  close(wrong.fd);
}

}  // namespace
}  // namespace ashlar::coll::shm
