#include "tests/conformance/transport/component.h"

#include <dlfcn.h>

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <list>
#include <memory>
#include <mutex>
#include <stdexcept>

#include "framework/plugin/tables.h"

namespace ashlar::test {
namespace {

thread_local char failure_text[512];
std::mutex decisions_lock;
std::vector<std::string> decision_lines;

int host_fail(int mpi_class, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(failure_text, sizeof failure_text, format, arguments);
  va_end(arguments);
  return -mpi_class;
}

/// The id and the facts: "transport.outside peer 0, first 8, ...".
ashlar_result host_fail_with(int mpi_class, const char* id, const ashlar_fact* facts, std::uint32_t count) {
  std::string text = id;
  for (std::uint32_t i = 0; i < count; ++i) {
    const ashlar_fact& fact = facts[i];
    text += std::string(i == 0 ? " " : ", ") + fact.name + " " + (fact.text ? fact.text : std::to_string(fact.number));
  }
  return host_fail(mpi_class, "%s", text.c_str());
}

void host_log(int, const char* component, const char* format, ...) {
  std::fprintf(stderr, "%s: ", component);
  va_list arguments;
  va_start(arguments, format);
  std::vfprintf(stderr, format, arguments);
  va_end(arguments);
  std::fputc('\n', stderr);
}

int host_log_enabled(int level) { return level <= 1; }

void host_record(const char* topic, const char* subject, const char* chosen, const char* because, const char*,
                 const char*) {
  const std::lock_guard<std::mutex> guard(decisions_lock);
  decision_lines.push_back(std::string(topic) + "|" + subject + "|" + chosen + "|" + because);
}

void host_add_pvars(const char*, const char*, const ashlar_pvar*, std::uint32_t) {}

void host_adjusted(const char*, const char*, const char*, const char*, const char*) {}

constexpr ashlar_host kHost = {
    .size = sizeof(ashlar_host),
    .kernel_version = "test",
    .fail = host_fail,
    .log = host_log,
    .log_enabled = host_log_enabled,
    .record = host_record,
    .add_pvars = host_add_pvars,
    .adjusted = host_adjusted,
    .elevated = 0,
    .fail_with = host_fail_with,
    .add_pvar_block = nullptr,
    .remove_pvar_block = nullptr,
};

std::uint64_t scaled(const std::string& text, const std::map<std::string, double>& units) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  const auto unit = units.find(end);
  if (unit == units.end()) {
    std::fprintf(stderr, "parameter text '%s' has an unknown unit\n", text.c_str());
    std::abort();
  }
  return static_cast<std::uint64_t>(number * unit->second);
}

std::list<std::string> texts;  // of string parameters

void store(const ashlar_param& row, const std::string& text, std::byte* block) {
  const auto put = [&](auto value) { std::memcpy(block + row.offset, &value, sizeof value); };
  switch (row.type) {
    case ASHLAR_PARAM_BOOL:
      put(text == "true" || text == "yes" || text == "on" || text == "1");
      break;
    case ASHLAR_PARAM_I64:
      put(static_cast<std::int64_t>(std::strtoll(text.c_str(), nullptr, 10)));
      break;
    case ASHLAR_PARAM_U64:
      put(static_cast<std::uint64_t>(std::strtoull(text.c_str(), nullptr, 10)));
      break;
    case ASHLAR_PARAM_BYTES:
      put(scaled(text, {{"", 1}, {"KiB", 1024}, {"MiB", 1048576}, {"GiB", 1073741824}}));
      break;
    case ASHLAR_PARAM_DURATION:
      put(scaled(text, {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}}));
      break;
    case ASHLAR_PARAM_F64:
      put(std::strtod(text.c_str(), nullptr));
      break;
    case ASHLAR_PARAM_STRING:
      texts.push_back(text);
      put(texts.back().c_str());
      break;
    case ASHLAR_PARAM_ENUM:
      for (std::int32_t i = 0; row.choices[i]; ++i) {
        if (text == row.choices[i]) put(i);
      }
      break;
  }
}

std::vector<Component> load_all() {
  std::vector<Component> found;
  for (const std::string& file : transport_files()) {
    void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    const auto* table =
        library ? static_cast<const ashlar_component*>(dlsym(library, ASHLAR_COMPONENT_SYMBOL)) : nullptr;
    if (!table) {
      std::fprintf(stderr, "%s cannot be loaded: %s\n", file.c_str(), dlerror());
      std::abort();
    }
    static std::list<ashlar_component> tables;
    tables.push_back(plugin::whole(*table));
    found.emplace_back(table->name, &tables.back());
  }
  return found;
}

}  // namespace

void Component::open(const Settings& settings) const {
  static std::vector<std::unique_ptr<std::byte[]>> blocks;
  blocks.push_back(std::make_unique<std::byte[]>(table_->config_size + 1));
  std::byte* block = blocks.back().get();
  for (std::uint32_t i = 0; i < table_->param_count; ++i) {
    const ashlar_param& row = table_->params[i];
    const Settings& all = settings_of_all_tests();
    const auto own = settings.find(row.name), general = all.find(row.name);
    store(row, own != settings.end() ? own->second : general != all.end() ? general->second : row.fallback, block);
  }
  if (table_->open && table_->open(&kHost, block) != ASHLAR_OK)
    throw std::runtime_error(name_ + " cannot be opened: " + failure_text);
}

Settings& settings_of_all_tests() {
  static Settings settings;
  return settings;
}

bool has_parameter(const Component& component, const char* name) {
  for (std::uint32_t i = 0; i < component->param_count; ++i)
    if (std::strcmp(component->params[i].name, name) == 0) return true;
  return false;
}

bool needs_answers(const Component& component) { return has_parameter(component, "handshake_timeout"); }

const std::vector<Component>& transports() {
  static const std::vector<Component> all = load_all();
  return all;
}

const Component* transport_named(const std::string& name) {
  for (const Component& c : transports()) {
    if (c.name() == name) return &c;
  }
  return nullptr;
}

const char* last_failure() { return failure_text; }
const std::vector<std::string>& decisions() { return decision_lines; }

}  // namespace ashlar::test
