// The dynamic loader's cache: the first entry for a library counts, wherever its text stands.
#include "mpiexec/loader_cache.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace ashlar::mpiexec {
namespace {

#if defined(__aarch64__)
constexpr std::uint32_t kHere = 0xa03, kElsewhere = 0x303;
#else
constexpr std::uint32_t kHere = 0x303, kElsewhere = 0x803;
#endif

struct Row {
  std::uint32_t flags, key, value, capabilities;
};

void put(std::string* text, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i, value >>= 8) text->push_back(static_cast<char>(value));
}

// `texts` begin at 0; keys and values of the rows are places in them.
std::string cache_of(const std::vector<Row>& rows, const std::string& texts) {
  std::string cache = "glibc-ld.so.cache1.1";
  put(&cache, rows.size(), 4);
  put(&cache, texts.size(), 4);
  cache.resize(48);
  const auto begin = static_cast<std::uint32_t>(48 + 24 * rows.size());
  for (const Row& row : rows) {
    put(&cache, row.flags, 4);
    put(&cache, begin + row.key, 4);
    put(&cache, begin + row.value, 4);
    put(&cache, 0, 4);
    put(&cache, row.capabilities, 8);
  }
  return cache + texts;
}

// "/lib/a.so" stands before "/opt/a.so"; "a.so" is the end of each.
const std::string kTexts("/lib/a.so\0/opt/a.so\0/lib/b.so\0", 30);
constexpr std::uint32_t kLib = 0, kOpt = 10, kB = 20, kName = 5, kNameOfB = 25;

TEST(LoaderCache, TheFirstEntryCountsAndNotTheFirstText) {
  const std::string cache =
      cache_of({{kHere, kNameOfB, kB, 0}, {kHere, kName, kOpt, 0}, {kHere, kName, kLib, 0}}, kTexts);
  EXPECT_EQ(path_in_loader_cache(cache, "a.so"), "/opt/a.so");
  EXPECT_EQ(path_in_loader_cache(cache, "b.so"), "/lib/b.so");
  EXPECT_EQ(path_in_loader_cache(cache, "c.so"), "");
  EXPECT_EQ(path_in_loader_cache(cache, ".so"), "");
  EXPECT_EQ(path_in_loader_cache("ld.so-1.7.0 and more" + cache, "a.so"), "/opt/a.so");
}

TEST(LoaderCache, LibrariesOfOtherMachinesAreNotTaken) {
  const std::string cache =
      cache_of({{kElsewhere, kName, kOpt, 0}, {kHere, kName, kB, 7}, {kHere, kName, kLib, 0}}, kTexts);
  EXPECT_EQ(path_in_loader_cache(cache, "a.so"), "/lib/a.so");
}

TEST(LoaderCache, NothingIsBelievedOfACacheThatIsCut) {
  const std::string cache = cache_of({{kHere, kName, kOpt, 0}}, kTexts);
  for (std::size_t bytes = 0; bytes < cache.size() - 11; ++bytes)
    EXPECT_EQ(path_in_loader_cache(std::string_view(cache).substr(0, bytes), "a.so"), "") << bytes;
  EXPECT_EQ(path_in_loader_cache(cache_of({{kHere, kName, 0x7fffff00u, 0}}, kTexts), "a.so"), "");
}

}  // namespace
}  // namespace ashlar::mpiexec
