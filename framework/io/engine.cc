#include "framework/io/engine.h"

#include <mpi.h>
#include <sys/vfs.h>

#include <string>
#include <vector>

#include "framework/base/failure.h"
#include "framework/io/pvars.h"
#include "framework/plugin/host.h"
#include "framework/plugin/pvars.h"
#include "framework/plugin/registry.h"

namespace ashlar::io {
namespace {

/// The type of the file system, 0: unknown. Of a file that is not there yet, that of its folder.
std::uint64_t file_system_of(const char* path) {
  struct statfs found;
  if (::statfs(path, &found) == 0) return static_cast<std::uint64_t>(found.f_type);
  const std::string name = path;
  const std::size_t slash = name.find_last_of('/');
  const std::string folder = slash == std::string::npos ? "." : slash == 0 ? "/" : name.substr(0, slash);
  return ::statfs(folder.c_str(), &found) == 0 ? static_cast<std::uint64_t>(found.f_type) : 0;
}

}  // namespace

constinit Engine* Engine::current_ = nullptr;

Engine::Engine(plugin::Registry& registry, const Config& parameters)
    : config(parameters), checks(parameters.check), verifies(parameters.verify), registry_(registry) {
  current_ = this;
  // A handler that the program has set on MPI_FILE_NULL before, in a session that is over, stays.
  Errhandler* const initial[] = {&errors_return(), &errors_are_fatal(), &errors_abort()};
  if (NoFile& none = no_file(); none.errhandler.get() == &errors_return())
    none.errhandler = Ref<Errhandler>::share(*initial[parameters.errhandler]);
  no_file().reports_returned.store(checks, std::memory_order_relaxed);
  plugin::pvar_sets().add("io", pool_rows, this);
}

Engine::~Engine() {
  while (!open_.empty()) unmake(*open_.begin());
  for (auto driver = made_.rbegin(); driver != made_.rend(); ++driver) driver->component->destroy(driver->module);
  plugin::pvar_sets().remove(pool_rows.data(), this);
  current_ = nullptr;
}

void Engine::add(OpenFile& file) {
  const std::lock_guard guard(loading_);
  open_.insert(&file);
}

void Engine::remove(OpenFile& file) {
  const std::lock_guard guard(loading_);
  if (open_.erase(&file) != 0) closed.add(file.counts);
}

std::uint64_t Engine::total(Count Counts::*of) {
  const std::lock_guard guard(loading_);
  std::uint64_t all = (closed.*of).get();
  for (OpenFile* const file : open_) all += (file->counts.*of).get();
  return all;
}

Status Engine::driver_for(const char* path, Driver* out) {
  const std::uint64_t type = file_system_of(path);
  const std::lock_guard guard(loading_);
  if (const auto known = drivers_.find(type); known != drivers_.end()) {
    *out = known->second;
    return {};
  }
  ashlar_io_context context = {.size = sizeof context, .file_system = type, .next = nullptr};
  std::vector<plugin::Chosen> chosen;
  ASHLAR_TRY(registry_.select("io", &context, &chosen));
  Driver driver;
  for (auto one = chosen.rbegin(); one != chosen.rend(); ++one) {  // the best one last, with the others behind it
    context.next = driver.module;
    driver.name = one->component->prefix();
    ASHLAR_TRY(one->component->create(&context, &driver.module));
    made_.push_back({.component = one->component, .module = driver.module});
  }
  driver.meter = &meters_[type];
  drivers_.emplace(type, driver);
  *out = driver;
  return {};
}

void unmake(OpenFile* file) {
  no_file().set_file_of(*file->comm, nullptr);
  if (file->bytes != nullptr) {
    file->mappings.drop(*file);
    file->bytes->ops->close(file->bytes);
  }
  drop_block(*file);
  Engine::current().remove(*file);
  Engine::current().files.put(file);
}

}  // namespace ashlar::io
