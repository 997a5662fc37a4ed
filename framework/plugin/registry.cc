#include "framework/plugin/registry.h"

#include <dlfcn.h>

#include <algorithm>

#include "framework/base/error_class.h"
#include "framework/base/failure.h"
#include "framework/plugin/pvars.h"

namespace ashlar::plugin {

Status Component::create(const void* context, void** module) {
  *module = nullptr;
  ASHLAR_TRY(from(table_.create(context, module), prefix()));
  if (!*module) return fail(kErrOther, "component.no_module", {{"component", prefix()}});
  // Stays loaded however often the library is closed: a component may close itself.
  if (!made_module_ && library_.is_open())
    (void)dlopen(entry_->file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD | RTLD_NODELETE);
  made_module_ = true;
  return {};
}

Registry::Registry(param::Store* store, const Accepts& kernel)
    : store_(store), pvars_(pvar_sets()), kernel_(kernel), host_(store) {}

Registry::~Registry() {
  for (Component& c : components_) {
    if (c.open_ && c.table_.close) c.table_.close();
    // Code and variables of a component that made a module may still be pointed at.
    if (c.made_module_) continue;
    pvars_.close(c.prefix());
    c.library_.close();
  }
}

// Of two components with one name the one added first is used. A component reads its parameters once, when it is
// opened: it would never see a value that is written later.
void Registry::adopt_entry(Entry* entry) {
  for (ashlar_param& row : entry->statement.params) row.flags |= ASHLAR_PARAM_FROZEN;
  if (entry->refused.empty()) {
    for (const Entry* other : entries_) {
      if (other->refused.empty() && other->prefix == entry->prefix) {
        entry->refused = "it is replaced by " + other->file;
        break;
      }
    }
  }
  entries_.push_back(entry);
}

void Registry::add_folder(const std::string& path) { add(path, param::Trust::installed()); }

Status Registry::add_named_folder(const std::string& path) {
  uid_t owner = 0;
  if (const Status right = param::check_folder(path, &owner); !right.ok())
    return right.mpi_class() == kErrNoSuchFile ? Status() : right;
  add(path, param::Trust::in_named_folder(owner));
  return {};
}

void Registry::add(const std::string& path, const param::Trust& trust) {
  if (std::find(paths_.begin(), paths_.end(), path) != paths_.end()) return;
  paths_.push_back(path);
  Folder& folder = folders_.emplace_back(Folder::read(path, kernel_, &pool_, trust));
  looked_into_ += folder.looked_into();
  for (Entry& entry : folder.entries()) adopt_entry(&entry);
}

void Registry::add_file(const std::string& file) { adopt_entry(&files_.emplace_back(examine(file, kernel_, &pool_))); }

void Registry::add_linked(const ashlar_component& theirs) {
  for (const Linked& known : linked_)
    if (known.table == &theirs) return;
  const ashlar_component c = whole(theirs);
  Linked& linked = linked_.emplace_back(Linked{&theirs, {}});
  Statement& s = linked.entry.statement;
  s.size = c.size;
  s.abi_major = c.abi_major;
  s.abi_minor = c.abi_minor;
  s.framework = c.framework;
  s.name = c.name;
  s.version = c.version ? c.version : "";
  s.description = c.description ? c.description : "";
  s.interface_version = c.interface_version;
  s.config_size = c.config_size;
  s.build_id = c.build_id;
  s.params.assign(c.params, c.params + c.param_count);
  linked.entry.file = "(linked in)";
  linked.entry.prefix = std::string(c.framework) + "." + c.name;
  if (Status status = acceptable(s, kernel_); !status.ok()) linked.entry.refused = status.text();
  adopt_entry(&linked.entry);
}

void Registry::declare_params() const {
  for (const Entry* e : entries_) {
    if (e->refused.empty() && !e->statement.params.empty()) store_->declare({e->prefix.c_str(), e->statement.params});
  }
}

// Loads, fills the configuration block, opens. What fails is remembered: the reason does not change within a process.
Component* Registry::open(Entry* entry) {
  for (Component& c : components_) {
    if (c.entry_ == entry) return &c;
  }
  Component& c = components_.emplace_back();
  c.entry_ = entry;
  Status status;
  bool is_linked = false;
  for (const Linked& linked : linked_) {
    if (&linked.entry != entry) continue;
    c.table_ = whole(*linked.table);
    is_linked = true;
  }
  if (!is_linked) status = open_component(entry, kernel_, &pool_, &c.library_, &c.table_);
  if (status.ok()) {
    c.config_ = std::make_unique<std::byte[]>(c.table_.config_size + 1u);
    status = store_->fill(entry->prefix, {c.table_.params, c.table_.param_count}, c.config_.get());
  }
  if (status.ok() && c.table_.open) status = from(c.table_.open(host_.table(), c.config_.get()), c.prefix());
  c.open_ = status.ok();
  if (!status.ok()) c.failed_ = own_words(status);
  return &c;
}

}  // namespace ashlar::plugin
