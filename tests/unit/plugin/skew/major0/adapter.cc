#include "tests/unit/plugin/skew/major0/adapter.h"

#include <cstdio>
#include <utility>

#include "framework/base/error_class.h"
#include "framework/plugin/report.h"
#include "tests/unit/plugin/skew/major0/contract.h"

namespace ashlar::plugin::testing_fixture {
namespace {

Status read_old(const ElfImage& image, std::uint64_t address, param::TextPool* pool, Statement* out) {
  ashlar_component_0 raw;
  if (!image.read(address, &raw) || raw.size != sizeof raw)
    return Status::fail_text(kErrOther, "its component structure is not one of contract 0");
  const char* const name = image.text(image.pointer(address + offsetof(ashlar_component_0, name)));
  out->size = raw.size;
  out->abi_major = 0;
  out->framework = "report";
  out->name = pool->keep(name ? name : "");
  out->interface_version = 1;
  return {};
}

// The functions of today's contract get no component, so each adapted one has functions of its own.
template <int Slot>
struct Adapted {
  static inline const ashlar_component_0* old = nullptr;

  static ashlar_result open(const ashlar_host* host, const void*) {
    return old->start() == 0 ? ASHLAR_OK : host->fail(kErrOther, "%s does not start", old->name);
  }
  static void query(const void*, ashlar_answer* answer) {
    answer->priority = old->rate(answer->reason, sizeof answer->reason);
  }
  static void error(ashlar_report*, const ashlar_error_record* record) { old->print(record->words); }
  static void notice(ashlar_report*, const ashlar_notice* notice) { old->print(notice->text); }
  static constexpr ashlar_report_ops kOps{
      .size = sizeof(ashlar_report_ops), .error = error, .notice = notice, .decision = nullptr};
  static inline ashlar_report module{.ops = &kOps};
  static ashlar_result create(const void*, void** out) {
    *out = &module;
    return ASHLAR_OK;
  }
  static constexpr ashlar_component kComponent{.size = sizeof(ashlar_component),
                                               .abi_major = ASHLAR_COMPONENT_MAJOR,
                                               .abi_minor = 0,
                                               .framework = "report",
                                               .name = nullptr,
                                               .version = "0",
                                               .description = "",
                                               .interface_version = 1,
                                               .config_size = 0,
                                               .param_count = 0,
                                               .params = nullptr,
                                               .build_id = 0,
                                               .open = open,
                                               .query = query,
                                               .create = create,
                                               .destroy = nullptr,
                                               .close = nullptr};

  static bool take(const ashlar_component_0* object, ashlar_component* out) {
    if (old && old != object) return false;
    old = object;
    *out = kComponent;
    out->name = object->name;
    return true;
  }
};

Status adapt_old(const void* object, ashlar_component* out) {
  const auto* const old = static_cast<const ashlar_component_0*>(object);
  const bool taken = [&]<int... Slots>(std::integer_sequence<int, Slots...>) {
    return (Adapted<Slots>::take(old, out) || ...);
  }
  (std::make_integer_sequence<int, 4>());
  return taken ? Status() : Status::fail_text(kErrOther, "there are four components of contract 0 already");
}

}  // namespace

const Adapter kAdapter0{.symbol = ASHLAR_COMPONENT_0_SYMBOL, .major = 0, .read = read_old, .adapt = adapt_old};

}  // namespace ashlar::plugin::testing_fixture
