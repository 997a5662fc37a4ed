#include "framework/param/job_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/param/store.h"

namespace ashlar::param {
namespace {

using testing::HasSubstr;

constexpr std::size_t kPlenty = 4096;
const Schema kNoRows;

TEST(JobSettingsTest, TheHashIsOfKeysAndValues) {
  JobSettings a, b, empty;
  a.set("coll.bcast.algorithm", "ring", "site.yaml:3");
  a.set("check.ready", "true", "--set");
  b.set("check.ready", "true", "environment");
  b.set("coll.bcast.algorithm", "linear", "user.yaml:1");
  EXPECT_NE(a.hash(), b.hash());
  b.set("coll.bcast.algorithm", "ring", "user.yaml:1");
  EXPECT_EQ(a.hash(), b.hash());
  EXPECT_NE(a.hash(), empty.hash());
  EXPECT_EQ(JobSettings::hash_of(a.publish(kPlenty)), b.hash());
  EXPECT_EQ(JobSettings::hash_of(""), 0u);
}

TEST(JobSettingsTest, WhereAKeyEndsMatters) {
  JobSettings a, b;
  a.set("ab", "c", "");
  b.set("a", "bc", "");
  EXPECT_NE(a.hash(), b.hash());
}

TEST(JobSettingsTest, TheFirstDifferenceIsNamedWithBothOrigins) {
  JobSettings own, theirs;
  for (JobSettings* both : {&own, &theirs}) both->set("a.same", "1", "site.yaml:1");
  own.set("b.value", "ring", "--set b.value=ring");
  theirs.set("b.value", "linear", "user.yaml:7");
  theirs.set("c.theirs", "", "user.yaml:8");
  const JobSettings::Difference difference = own.compare(theirs.publish(kPlenty), kNoRows);
  EXPECT_EQ(difference.theirs, "b.value linear (user.yaml:7)");
  EXPECT_EQ(difference.own, "b.value ring (--set b.value=ring)");
  EXPECT_EQ(difference.more, 1);
}

TEST(JobSettingsTest, AValueThatOnlyOneHas) {
  JobSettings own, theirs;
  own.set("a", "1", "here");
  JobSettings::Difference difference = own.compare(theirs.publish(kPlenty), kNoRows);
  EXPECT_EQ(difference.theirs, "a as built in");
  EXPECT_EQ(difference.own, "a 1 (here)");
  difference = theirs.compare(own.publish(kPlenty), kNoRows);
  EXPECT_EQ(difference.theirs, "a 1 (here)");
  EXPECT_EQ(difference.own, "a as built in");
}

TEST(JobSettingsTest, TheBuiltInValueIsNamedWhereItIsKnown) {
  ashlar_param rows[2] = {};
  rows[0].name = "reference";
  rows[0].fallback = "false";
  rows[1].name = "algorithm";
  rows[1].fallback = "";
  Schema schema;
  schema.add({"coll", rows});
  JobSettings own, theirs;
  own.set("coll.reference", "true", "here");
  EXPECT_EQ(own.compare(theirs.publish(kPlenty), schema).theirs, "coll.reference false (built in)");
  own = {};
  own.set("coll.algorithm", "ring", "here");
  EXPECT_EQ(own.compare(theirs.publish(kPlenty), schema).theirs, "coll.algorithm as built in");
}

TEST(JobSettingsTest, WhatDoesNotFitIsNotTakenForBuiltIn) {
  JobSettings own, theirs;
  for (int i = 10; i < 40; ++i)
    for (JobSettings* both : {&own, &theirs}) both->set("key." + std::to_string(i), "value", "origin");
  theirs.set("key.40", "other", "origin");
  const std::string text = theirs.publish(200);
  EXPECT_LE(text.size(), 200u);
  EXPECT_THAT(own.compare(text, kNoRows).theirs, HasSubstr("other values"));
  own.set("key.10", "mine", "origin");
  EXPECT_EQ(own.compare(text, kNoRows).theirs, "key.10 value (origin)");
}

TEST(JobSettingsTest, ALongOriginKeepsItsEnd) {
  JobSettings own, theirs;
  theirs.set("a", "1", std::string(5000, 'x') + "/site.yaml:12");
  EXPECT_THAT(own.compare(theirs.publish(kPlenty), kNoRows).theirs, HasSubstr("/site.yaml:12)"));
}

TEST(JobSettingsTest, TextsFromOutsideAreReadToTheirEnd) {
  const JobSettings own;
  std::string text = own.publish(kPlenty);
  EXPECT_EQ(own.compare(text.substr(0, 3), kNoRows).more, 0);
  text += "key";  // no value, no origin, no end
  EXPECT_EQ(own.compare(text, kNoRows).theirs, "key empty ()");
}

// Rows of scope ALL_EQ enter by their values, however these are spelt; others do not.
TEST(JobSettingsTest, AStoreFillsThem) {
  static constexpr ashlar_param kRows[] = {
      {"all", "64KiB", "", ASHLAR_PARAM_BYTES, ASHLAR_SCOPE_ALL_EQ, ASHLAR_USER_BASIC, 0, 0, nullptr},
      {"local", "64KiB", "", ASHLAR_PARAM_BYTES, ASHLAR_SCOPE_LOCAL, ASHLAR_USER_BASIC, 0, 8, nullptr}};
  const auto hash_with = [&](const char* all, const char* local) {
    Store store;
    store.declare(Table{"room", kRows});
    Sources sources;
    sources.command_line = {{"room.all", all, "--set"}, {"room.local", local, "--set"}};
    EXPECT_TRUE(store.load(sources).ok());
    std::uint64_t block[2];
    EXPECT_TRUE(store.fill("room", kRows, block).ok());
    return store.job_settings().hash();
  };
  EXPECT_EQ(hash_with("64KiB", "1"), JobSettings().hash());
  EXPECT_EQ(hash_with("65536", "2"), JobSettings().hash());
  EXPECT_EQ(hash_with("1MiB", "1"), hash_with("1024KiB", "2"));
  EXPECT_NE(hash_with("1MiB", "1"), hash_with("2MiB", "1"));
}

}  // namespace
}  // namespace ashlar::param
