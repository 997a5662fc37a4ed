#include "framework/datatype/half.h"

#include <gtest/gtest.h>

#include <cmath>

namespace ashlar::datatype {
namespace {

TEST(Half, EveryNumberSurvivesTheWayThere) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const Half h{static_cast<std::uint16_t>(bits)};
    if ((bits & 0x7fff) > 0x7c00) {
      EXPECT_TRUE(std::isnan(h.value()));
      EXPECT_GT(Half::from(h.value()).bits & 0x7fff, 0x7c00);
    } else {
      ASSERT_EQ(Half::from(h.value()).bits, bits);
    }
  }
}

TEST(Half, KnownValues) {
  EXPECT_EQ(Half{0x3c00}.value(), 1.0f);
  EXPECT_EQ(Half{0xc000}.value(), -2.0f);
  EXPECT_EQ(Half{0x0001}.value(), 0x1p-24f);
  EXPECT_EQ(Half{0x7bff}.value(), 65504.0f);
  EXPECT_TRUE(std::isinf(Half{0x7c00}.value()));
}

TEST(Half, RoundsToNearestEven) {
  // Between neighbours: halves go to the even one, everything else to the nearer.
  for (unsigned bits = 0; bits < 0x7bff; ++bits) {
    const double low = Half{static_cast<std::uint16_t>(bits)}.value();
    const double high = Half{static_cast<std::uint16_t>(bits + 1)}.value();
    const double middle = (low + high) / 2;
    ASSERT_EQ(Half::from(static_cast<float>(middle)).bits, bits % 2 == 0 ? bits : bits + 1);
    ASSERT_EQ(Half::from(std::nextafter(static_cast<float>(middle), 0.0f)).bits, bits);
    ASSERT_EQ(Half::from(std::nextafter(static_cast<float>(middle), 1e9f)).bits, bits + 1);
  }
  EXPECT_EQ(Half::from(65519.0f).bits, 0x7bff);
  EXPECT_EQ(Half::from(65520.0f).bits, 0x7c00);
  EXPECT_EQ(Half::from(1e30f).bits, 0x7c00);
}

}  // namespace
}  // namespace ashlar::datatype
