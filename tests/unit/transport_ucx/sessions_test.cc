#include "tests/unit/transport_common/sessions.h"

#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

#include "components/transport/ucx/memory_functions.h"
#include "tests/unit/transport_ucx/fixture.h"

namespace ashlar::network::test {

INSTANTIATE_TYPED_TEST_SUITE_P(Ucx, Sessions, testing::Types<ucx::test::Process>);

}  // namespace ashlar::network::test

// What UCX must leave alone, and what is told when it does not work.
namespace ashlar::ucx::test {
namespace {

// As they were before any test loaded UCX.
const MemoryFunctions before;

TEST(Open, MemoryFunctionsAreLeftAlone) {
  const Process a(0);
  ASSERT_EQ(a.opened, ASHLAR_OK) << last_failure;
  EXPECT_EQ(before.changed(), nullptr);
}

TEST(MemoryFunctions, ComeBack) {
  const MemoryFunctions functions;
  auto* const code = reinterpret_cast<unsigned char*>(shmdt);  // that nobody calls here
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  auto* const pages = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(code) / page * page);
  ASSERT_EQ(mprotect(pages, 2 * page, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
  code[1] ^= 0x55;
  EXPECT_STREQ(functions.changed(), "shmdt");
  EXPECT_EQ(functions.restore(), nullptr);
  EXPECT_EQ(functions.changed(), nullptr);
}

TEST(Open, AChildMadeByForkIsRefused) {
  const Process a(0);
  ASSERT_EQ(a.opened, ASHLAR_OK) << last_failure;
  const pid_t child = fork();
  if (child == 0) {
    const Process b(1);
    _exit(b.opened < 0 && last_failure == "ucx.forked" ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(Open, WhatIsNotThereIsNamed) {
  Config config = usual();
  config.transports = "no_such";
  EXPECT_LT(Process(0, config).opened, 0);
  EXPECT_NE(last_failure.find("ucx.not_started transports=no_such"), std::string::npos) << last_failure;
  config = usual();
  config.devices = "no_such_device";
  EXPECT_LT(Process(0, config).opened, 0);
  EXPECT_NE(last_failure.find("devices=no_such_device"), std::string::npos) << last_failure;
}

}  // namespace
}  // namespace ashlar::ucx::test
