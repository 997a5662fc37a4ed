#pragma once
#include <mutex>
#include <string>

#include "framework/base/status.h"
#include "framework/param/store.h"
#include "framework/plugin/component.h"
#include "framework/plugin/records.h"

namespace ashlar::plugin {

/// What components may call. The C contract passes no object to these functions, so one host is in force per process:
/// the one of the registry made last.
class Host {
 public:
  /// `store`, when given, outlives the host and learns of values that components adjust.
  explicit Host(param::Store* store = nullptr);
  ~Host();
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  const ashlar_host* table() const { return &table_; }
  Records& records() { return records_; }

 private:
  static ashlar_result fail(int mpi_class, const char* format, ...);
  static ashlar_result fail_with(int mpi_class, const char* id, const ashlar_fact* facts, std::uint32_t count);
  static void log(int level, const char* component, const char* format, ...);
  static int log_enabled(int level);
  static void record(const char* topic, const char* subject, const char* chosen, const char* because, const char* lost,
                     const char* setting);
  static void adjusted(const char* framework, const char* component, const char* parameter, const char* used,
                       const char* because);
  static void add_pvars(const char* framework, const char* component, const ashlar_pvar* rows, std::uint32_t count);
  static void add_pvar_block(const char* framework, const char* component, const ashlar_pvar_row* rows,
                             std::uint32_t count, const void* block);
  static void remove_pvar_block(const ashlar_pvar_row* rows, const void* block);

  ashlar_host table_;
  param::Store* store_;
  Records records_;
  std::mutex adjusting_;
};

[[gnu::cold]] Status component_failed(ashlar_result result, const char* component) noexcept;

/// What a list of reasons says of a failure when it names the component itself: the sentence of the component, or of
/// the message that it chose, without the component's name.
std::string own_words(Status failed);

/// The outcome of a component's call as a Status. A failure is what the component gave to ashlar_host::fail or
/// fail_with on this thread for this result, with the component's name.
inline Status from(ashlar_result result, const char* component) noexcept {
  return result >= 0 ? Status{} : component_failed(result, component);
}

}  // namespace ashlar::plugin
