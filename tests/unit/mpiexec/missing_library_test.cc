#include "mpiexec/missing_library.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace ashlar::mpiexec {
namespace {

const NeededLibrary* find(const std::vector<NeededLibrary>& all, const std::string& begin) {
  const auto at =
      std::find_if(all.begin(), all.end(), [&](const NeededLibrary& l) { return l.name.starts_with(begin); });
  return at == all.end() ? nullptr : &*at;
}

TEST(NeededLibraries, ThoseOfLibrariesAreAmongThemAndEachIsThereOnce) {
  // The launcher's server links PMIx, which links libraries that the server does not name.
  const std::vector<NeededLibrary> all = needed_libraries(PMIX_PROGRAM, "", "");
  const NeededLibrary* const pmix = find(all, "libpmix.so");
  ASSERT_NE(pmix, nullptr);
  EXPECT_TRUE(pmix->there);
  EXPECT_EQ(pmix->by, PMIX_PROGRAM);
  EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](const NeededLibrary& l) { return l.by == pmix->path; }));
  for (const NeededLibrary& library : all) {
    EXPECT_TRUE(library.there) << library.name;
    EXPECT_EQ(std::count_if(all.begin(), all.end(), [&](const NeededLibrary& l) { return l.name == library.name; }), 1);
  }
}

TEST(NeededLibraries, WhatIsNoProgramNeedsNone) {
  EXPECT_TRUE(needed_libraries("/etc/passwd", "", "").empty());
  EXPECT_TRUE(needed_libraries("/no/such/file", "", "").empty());
}

}  // namespace
}  // namespace ashlar::mpiexec
