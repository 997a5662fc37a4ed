#include "components/launch/pmi/key_values.h"

#include <gmock/gmock.h>

#include <cstdarg>
#include <cstdio>
#include <map>
#include <random>
#include <string>

#include "framework/plugin/launch.h"

namespace ashlar::launch {
namespace {

using testing::HasSubstr;

std::string failure;  // id and facts of the last one
ashlar_result fail_with(int mpi_class, const char* id, const ashlar_fact* facts, std::uint32_t count) {
  failure = id;
  for (std::uint32_t i = 0; i < count; ++i)
    failure +=
        std::string(" ") + facts[i].name + "=" + (facts[i].text ? facts[i].text : std::to_string(facts[i].number));
  return -mpi_class;
}
ashlar_host host() {
  ashlar_host h = {};
  h.size = sizeof h;
  h.fail_with = fail_with;
  return h;
}

// A launcher's space that is as strict as its limits.
class Space final : public PmiWire {
 public:
  Space(PmiChannel& channel, std::size_t key, std::size_t value)
      : PmiWire(channel), longest_key_(key), longest_value_(value) {}
  const char* name() const override { return "a map"; }
  ashlar_result greet(const PmiTrace&, PmiFacts*, bool*) override { return ASHLAR_OK; }
  ashlar_result describe(PmiFacts*) override { return ASHLAR_OK; }
  ashlar_result put(const std::string& key, const std::string& value) override {
    EXPECT_LE(key.size(), longest_key_);
    EXPECT_LE(value.size(), longest_value_);
    EXPECT_FALSE(value.empty());
    EXPECT_EQ((key + value).find_first_of(" =;\n"), std::string::npos) << key << " " << value;
    EXPECT_TRUE(texts.emplace(key, value).second) << key << " is put twice";
    return ASHLAR_OK;
  }
  ashlar_result get(const std::string& key, std::string* value) override {
    const auto found = texts.find(key);
    if (found == texts.end()) return ASHLAR_LAUNCH_NOT_FOUND;
    *value = found->second;
    return ASHLAR_OK;
  }
  ashlar_result enter_fence() override { return ASHLAR_OK; }
  ashlar_result abort(int) override { return ASHLAR_OK; }
  ashlar_result finalize() override { return ASHLAR_OK; }
  std::map<std::string, std::string> texts;

 private:
  std::size_t longest_key_, longest_value_;
};

struct KeyValuesTest : testing::Test {
  const ashlar_host h = host();
  PmiChannel channel{h, 0};
  Space space{channel, 40, 20};
  KeyValues values{h, space, 40, 20};
  std::string blob;
};

TEST_F(KeyValuesTest, BlobsOfAnySizeComeBack) {
  std::mt19937 random(7);
  for (std::size_t bytes = 0; bytes < 200; ++bytes) {
    std::string put(bytes, '\0');
    for (char& c : put) c = static_cast<char>(random());
    ASSERT_EQ(values.put(3, "k" + std::to_string(bytes), put), ASHLAR_OK);
    ASSERT_EQ(values.get(3, "k" + std::to_string(bytes), &blob), ASHLAR_OK) << bytes << failure;
    EXPECT_EQ(blob, put);
  }
  EXPECT_EQ(values.get(4, "k1", &blob), ASHLAR_LAUNCH_NOT_FOUND) << "a key of another rank";
}

TEST_F(KeyValuesTest, KeysThatDoNotFitAreRefusedBeforeAnythingIsPut) {
  for (const char* key : {"", "a b", "a=b", "a;b", "a\n", "a+1", "an.accurately.long.key.for.this.space"}) {
    EXPECT_LT(values.put(0, key, "x"), 0) << key;
    EXPECT_THAT(failure, HasSubstr("pmi.key"));
  }
  // The number of its last piece makes it too long.
  EXPECT_EQ(values.put(0, std::string(31, 'k'), "x"), ASHLAR_OK);
  EXPECT_LT(values.put(1, std::string(31, 'k'), std::string(100, 'x')), 0);
  EXPECT_EQ(space.texts.size(), 1u);
}

TEST_F(KeyValuesTest, DamagedTextsAreSaid) {
  const auto damaged = [&](const std::map<std::string, std::string>& texts) {
    space.texts = texts;
    failure.clear();
    EXPECT_LT(values.get(0, "k", &blob), 0);
    return failure;
  };
  const std::string key = "ashlar-0-k";
  for (const char* text : {".", "-1.", "x.", "99999999999999999999.", "17000000."})
    EXPECT_THAT(damaged({{key, text}}), HasSubstr("length is missing")) << text;
  for (const char* text : {"", "abc", "5", "123456789012345678901"}) EXPECT_NE(damaged({{key, text}}), "") << text;
  EXPECT_THAT(damaged({{key, "3.AA"}}), HasSubstr("piece is missing"));
  EXPECT_THAT(damaged({{key, "3.AA"}, {key + "+1", ""}}), HasSubstr("piece is missing"));
  EXPECT_THAT(damaged({{key, "3.AAA*"}}), HasSubstr("not what was put"));
  EXPECT_THAT(damaged({{key, "3.AAAAA"}}), HasSubstr("not what was put"));
  EXPECT_THAT(damaged({{key, "0.A"}}), HasSubstr("not what was put"));
}

}  // namespace
}  // namespace ashlar::launch
