// rma_conformance_test COMPONENT: the suite over one component of this build, by its name.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "framework/param/sources.h"
#include "framework/plugin/params.h"
#include "framework/plugin/registry.h"
#include "tests/conformance/rma/world.h"

using namespace ashlar;
using namespace ashlar::test;

namespace {

Status load(const std::string& name) {
  static auto* const store = new param::Store;  // components live as long as the process
  static auto* const registry = new plugin::Registry(store);
  param::Sources sources;
  store->declare({"", plugin::kSelection});
  registry->add_folder(ASHLAR_COMPONENT_DIR);
  registry->declare_params();
  ASHLAR_TRY(store->load(sources));
  std::vector<plugin::Chosen> chosen;
  ASHLAR_TRY(registry->select("rma", nullptr, &chosen));
  RmaSubject& subject = rma_subject();
  for (const plugin::Chosen& one : chosen) {
    if (subject.component == nullptr && name != one.component->name()) continue;
    void* module = nullptr;
    ASHLAR_TRY(one.component->create(nullptr, &module));
    subject.all.push_back(static_cast<const rma::Component*>(module));
    subject.component = subject.all.front();
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::string name = argv[1];
  argv[1] = argv[0];
  if (const Status loaded = load(name); !loaded.ok() || rma_subject().component == nullptr) {
    std::fprintf(stderr, "there is no component rma/%s: %s\n", name.c_str(), loaded.text());
    return 1;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
