#include "framework/plugin/statement.h"

#include <elf.h>
#include <gmock/gmock.h>

#include <cstddef>
#include <cstring>
#include <string>

#include "tests/unit/plugin/fixture.h"

namespace ashlar::plugin {
namespace {

using testing::HasSubstr;
using namespace testing_fixture;

TEST(Statement, IsReadFromTheFileWithoutLoadingIt) {
  param::TextPool pool;
  Statement s;
  TemporaryFolder folder;  // a file that no other test has loaded
  const std::string file = folder.drop("good");
  const Status status = read_statement(file.c_str(), this_kernel(), &pool, &s);
  ASSERT_TRUE(status.ok()) << status.text();
  EXPECT_EQ(s.size, sizeof(ashlar_component));
  EXPECT_EQ(s.abi_major, ASHLAR_COMPONENT_MAJOR);
  EXPECT_STREQ(s.framework, "report");
  EXPECT_STREQ(s.name, "good");
  EXPECT_STREQ(s.version, "1.2.3");
  EXPECT_STREQ(s.description, "A component of the tests.");
  EXPECT_EQ(s.build_id, 0u);
  ASSERT_EQ(s.params.size(), 3u);
  EXPECT_STREQ(s.params[0].name, "limit");
  EXPECT_STREQ(s.params[0].fallback, "8KiB");
  EXPECT_EQ(s.params[0].type, ASHLAR_PARAM_BYTES);
  ASSERT_NE(s.params[0].choices, nullptr) << "its range";
  EXPECT_STREQ(s.params[0].choices[1], "1GiB");
  EXPECT_EQ(s.params[1].choices, nullptr);
  EXPECT_STREQ(s.params[1].fallback, "");
  ASSERT_NE(s.params[2].choices, nullptr);
  EXPECT_STREQ(s.params[2].choices[1], "green");
  EXPECT_EQ(s.params[2].choices[2], nullptr);
  EXPECT_TRUE(acceptable(s, this_kernel()).ok());
  std::ifstream maps("/proc/self/maps");
  const std::string all((std::istreambuf_iterator<char>(maps)), {});
  EXPECT_EQ(all.find(file), std::string::npos);
}

std::string refusal(const std::string& file) {
  param::TextPool pool;
  return examine(file, {0x1234}, &pool).refused;
}

TEST(Statement, RefusalsSayWhatTheFileWasBuiltForAndWhatThisKernelSpeaks) {
  EXPECT_EQ(refusal(fixture("good")), "");
  EXPECT_EQ(refusal(fixture("bigger")), "") << "a newer minor version only appends members";
  EXPECT_THAT(refusal(fixture("small")), HasSubstr("has 64 bytes, contract 1.0 had 96"));
  const std::string minor = std::to_string(ASHLAR_COMPONENT_MINOR);
  EXPECT_THAT(refusal(fixture("major")),
              HasSubstr("built for component contract 7." + minor + ", this kernel speaks 1." + minor));
  EXPECT_THAT(refusal(fixture("interface")), HasSubstr("built for report/9, this kernel speaks report/1"));
  EXPECT_THAT(refusal(fixture("build")), HasSubstr("headers of build 0xabcdef, this kernel is build 0x1234"));
  EXPECT_THAT(refusal(fixture("alien")), HasSubstr("framework 'teleport', which this kernel does not have"));
  EXPECT_THAT(refusal(fixture("nosymbol")), HasSubstr("does not define ashlar_component_v1 itself"));
  EXPECT_THAT(refusal(fixture("indirect")), HasSubstr("does not define ashlar_component_v1 itself"));
  EXPECT_THAT(refusal(fixture("empty")), HasSubstr("must be a constant initialised at compile time"));
  EXPECT_THAT(refusal("/nowhere.so"), HasSubstr("there is no file /nowhere.so"));
  EXPECT_THAT(refusal("/tmp"), HasSubstr("it is a folder, not a regular file"));
}

TEST(Statement, ParametersLieWhollyInsideTheConfigurationBlock) {
  param::TextPool pool;
  Statement s;
  ASSERT_TRUE(read_statement(fixture("good").c_str(), this_kernel(), &pool, &s).ok());
  const std::uint32_t whole = s.config_size;
  s.params[0].offset = whole - 8;
  EXPECT_TRUE(acceptable(s, this_kernel()).ok());
  for (const std::uint32_t offset : {whole - 7, whole, ~0u}) {
    s.params[0].offset = offset;
    EXPECT_STREQ(acceptable(s, this_kernel()).text(), "its parameter 'limit' lies outside its configuration block");
  }
}

std::string content_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {(std::istreambuf_iterator<char>(in)), {}};
}

// A type from the file may be any number, which no ashlar_param_type need be able to hold.
TEST(Statement, ATypeThatIsNoneIsRefusedWithItsNumber) {
  TemporaryFolder folder;
  const std::string file = folder.drop("good");
  const std::string bytes = content_of(file);
  param::TextPool pool;
  Statement s;
  ASSERT_TRUE(read_statement(file.c_str(), this_kernel(), &pool, &s).ok());
  // What follows the type in the first row is in the file as it is, without relocations.
  constexpr std::size_t kFrom = offsetof(ashlar_param, type);
  static_assert(offsetof(ashlar_param, choices) > kFrom + sizeof(std::uint32_t));
  const std::string row(reinterpret_cast<const char*>(&s.params[0]) + kFrom, offsetof(ashlar_param, choices) - kFrom);
  const std::size_t at = bytes.find(row);
  ASSERT_NE(at, bytes.npos);
  for (const std::uint32_t type : {0u, ASHLAR_PARAM_DURATION + 1u, 99u, 0x80000000u, ~0u}) {
    std::string damaged = bytes;
    std::memcpy(&damaged[at], &type, sizeof type);
    std::ofstream(file, std::ios::binary | std::ios::trunc) << damaged;
    EXPECT_EQ(refusal(file), "its parameter 'limit' has the unknown type " + std::to_string(type));
  }
}

TEST(Statement, AFileWithoutProgramHeadersIsRefused) {
  TemporaryFolder folder;
  const std::string file = folder.drop("good");
  const std::string bytes = content_of(file);
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  ASSERT_GT(header.e_phnum, 0);
  header.e_phnum = 0;
  for (const std::uint64_t table : {std::uint64_t{header.e_phoff}, std::uint64_t{0}, std::uint64_t{bytes.size()}}) {
    header.e_phoff = table;
    std::string damaged = bytes;
    std::memcpy(damaged.data(), &header, sizeof header);
    std::ofstream(file, std::ios::binary | std::ios::trunc) << damaged;
    EXPECT_EQ(refusal(file), "it is no shared library") << table;
  }
  // The header alone, which says that there is nothing else.
  header.e_phoff = 0;
  std::ofstream(file, std::ios::binary | std::ios::trunc)
      << std::string(reinterpret_cast<char*>(&header), sizeof header);
  EXPECT_EQ(refusal(file), "it is no shared library");
}

TEST(Statement, DamagedAndForeignFilesAreRefused) {
  TemporaryFolder folder;
  const std::string file = folder.drop("good");
  const std::string bytes = content_of(file);
  const auto write = [&](const std::string& content) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << content;
  };
  std::string foreign = bytes;
  foreign[offsetof(Elf64_Ehdr, e_machine)] = static_cast<char>(EM_RISCV);
  foreign[offsetof(Elf64_Ehdr, e_machine) + 1] = 0;
  write(foreign);
  EXPECT_THAT(refusal(file), HasSubstr("another machine"));
  write("just text, long enough to be taken for a header of an executable file, but it is not one");
  EXPECT_THAT(refusal(file), HasSubstr("no shared library"));
  // However little of the file is left, the answer is a sentence.
  for (std::size_t keep = 0; keep < bytes.size() / 2; keep += 97) {
    write(bytes.substr(0, keep));
    EXPECT_NE(refusal(file), "") << keep;
  }
}

}  // namespace
}  // namespace ashlar::plugin
