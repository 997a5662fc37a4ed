#pragma once
#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/status.h"
#include "framework/param/store.h"
#include "framework/plugin/host.h"
#include "framework/plugin/loader.h"
#include "framework/plugin/manifest.h"
#include "framework/plugin/tables.h"

namespace ashlar::plugin {

/// A component that was opened in this process.
class Component {
 public:
  const ashlar_component& table() const { return table_; }
  const char* name() const { return table_.name; }
  const char* prefix() const { return entry_->prefix.c_str(); }  // "transport.shm"
  const Entry& entry() const { return *entry_; }
  /// Makes a module; its first member is the framework's table, which is whole (tables.h). From then on the component
  /// stays loaded for good.
  template <class Module>
  Status create(const void* context, Module** module) {
    void* made = nullptr;
    ASHLAR_TRY(create(context, &made));
    const Status taken = take_table(static_cast<Module*>(made), prefix());
    if (taken.ok())
      *module = static_cast<Module*>(made);
    else
      destroy(made);
    return taken;
  }
  /// Of a framework whose modules are C++ objects.
  Status create(const void* context, void** module);
  void destroy(void* module) {
    if (table_.destroy) table_.destroy(module);
  }

 private:
  friend class Registry;
  Entry* entry_ = nullptr;
  ashlar_component table_{};
  bool open_ = false;
  std::unique_ptr<std::byte[]> config_;
  Library library_;
  std::string failed_;  // why it cannot be used, once that is known
  bool made_module_ = false;
};

/// A component that can serve, with what it answered.
struct Chosen {
  Component* component;
  int priority;
  std::uint64_t capabilities;
  std::string reason;
};

class PvarSets;
struct SelectionList;

/// The components of this process: known ones (entries) and opened ones. Set-up path; one thread at a time.
class Registry {
 public:
  /// The store must outlive the registry.
  explicit Registry(param::Store* store, const Accepts& kernel = this_kernel());
  ~Registry();
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  /// Adds the folder of the installation's components; of two components with one name the folder added first wins. A
  /// folder that was added already is not read again.
  void add_folder(const std::string& path);
  /// Adds a folder that a parameter names. Fails with MPI_ERR_OTHER when others may change what it holds
  /// (param/trust.h); one that does not exist is empty.
  Status add_named_folder(const std::string& path);
  /// Adds one component's file, wherever it lies: for tools that look at it.
  void add_file(const std::string& file);
  /// Adds a component that is linked into this process (framework/plugin/linked.h; tests). One that is there already is
  /// not added again.
  void add_linked(const ashlar_component& component);
  /// Every file and linked component there is, refused and shadowed ones too. Addresses are stable.
  const std::vector<Entry*>& entries() const { return entries_; }
  /// Declares the parameters of all of them to the store, without opening any.
  void declare_params() const;

  /// Opens the components of `framework` that the parameter of that name allows, asks each, and gives those that can
  /// serve, the highest priority first. Leaves one decision record. `context` is the framework's. Fails with
  /// MPI_ERR_ARG when the parameter names a component that does not exist, MPI_ERR_OTHER when none can serve; the
  /// sentence has every reason.
  Status select(std::string_view framework, const void* context, std::vector<Chosen>* out);

  /// As select, for frameworks of which one component serves: asks those named in `order` one after the other, then the
  /// rest, and stops at the first that can serve, so that the others need not be opened. All are asked when decisions
  /// are to be shown (parameter `explain`).
  Status select_first(std::string_view framework, const void* context, std::span<const char* const> order, Chosen* out);

  /// Whether every word of the parameters that choose components, and of `explain`, means something here. Fails as
  /// select does, with MPI_ERR_ARG; opens nothing.
  Status check_choices() const;
  /// The same of one of them: "transport", ..., "explain".
  Status check_choice(std::string_view parameter) const;

  Host& host() { return host_; }
  Records& records() { return host_.records(); }
  const Accepts& kernel() const { return kernel_; }
  /// Files that had to be looked into because a manifest did not know them.
  std::size_t looked_into() const { return looked_into_; }

 private:
  struct Linked {
    const ashlar_component* table;
    Entry entry;
  };
  void adopt_entry(Entry* entry);
  void add(const std::string& path, const param::Trust& trust);
  Component* open(Entry* entry);
  Status candidates(std::string_view framework, SelectionList* list, std::vector<Entry*>* out, std::string* lost);
  Status conclude(std::string_view framework, const SelectionList& list, const std::vector<Chosen>& chosen,
                  std::string lost);
  bool ask(Entry* entry, const void* context, Chosen* out, std::string* lost);

  param::Store* store_;
  PvarSets& pvars_;  // found when there is memory: the destructor needs them
  Accepts kernel_;
  param::TextPool pool_;
  Host host_;  // before the components: they may use it until their close
  std::vector<std::string> paths_;
  std::deque<Folder> folders_;
  std::deque<Linked> linked_;
  std::deque<Entry> files_;
  std::vector<Entry*> entries_;
  std::deque<Component> components_;
  std::size_t looked_into_ = 0;
};

/// Whether the list parameter of `framework` lets its component `name` take part.
bool allows(const param::Store& store, std::string_view framework, std::string_view name);

}  // namespace ashlar::plugin
