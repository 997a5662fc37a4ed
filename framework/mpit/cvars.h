#pragma once
#include <mpi.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "framework/mpit/bound.h"
#include "framework/mpit/enumeration.h"
#include "framework/mpit/params.h"
#include "framework/mpit/start_params.h"
#include "framework/param/store.h"

namespace ashlar {
class Comm;
}

namespace ashlar::mpit {

/// A control variable that each communicator has for itself. Both answer with a code of MPI_T.
struct CommVariable {
  const char* name;
  const char* help;
  MPI_Datatype datatype;  // MPI_UNSIGNED_LONG_LONG or MPI_CHAR
  int verbosity, scope;
  int (*read)(const Comm& comm, int which, void* value, int count);
  int (*write)(Comm& comm, int which, const void* value, int count);
  int which = 0;  // of several that are alike
};

/// One control variable. What is said of it never changes.
struct Cvar {
  std::string name, description;
  std::string category;                   // "transport.shm"; "" for whole keys
  const ashlar_param* row = nullptr;      // of a parameter
  const CommVariable* of_comm = nullptr;  // otherwise
  MPI_Datatype datatype = MPI_DATATYPE_NULL;
  Enumeration* words = nullptr;
  int verbosity = 0, scope = 0, bind = MPI_T_BIND_NO_OBJECT;
};

/// The control variables: every parameter of the kernel and of the components that this process has known, in the order
/// in which it came to know them. Before MPI_Init their values are those that the process will start with.
class Cvars {
 public:
  /// What there is now; the list only grows.
  int size();
  Cvar* at(int index);
  /// The index of `name`, or -1.
  int find(std::string_view name);

  /// As many elements as a handle to it has.
  int count(const Cvar& cvar);
  int read(const Cvar& cvar, void* out, int count);
  int write(const Cvar& cvar, const void* in, int count);
  Config limits();
  /// What a component says of itself, by the prefix of its names; "" when it says nothing, or is none.
  std::string component(std::string_view prefix);

 private:
  void know();
  void know_kernel();
  void know_running();
  void read_before_start();
  /// A new variable at the end of the list; nullptr: there is one of this name.
  Cvar* make(std::string name);
  /// Takes back what came behind the first `count`: for a failure half-way, before their indices are known.
  void shrink_to(std::size_t count);
  void add_tables(std::string_view prefix, std::span<const ashlar_param> rows);
  void add_rows(std::string_view prefix, std::span<const ashlar_param> rows);
  void add_components(const plugin::Registry& registry);
  Config read_limits();
  std::string text_of(const Cvar& cvar);

  std::mutex mutex_;
  std::unique_ptr<param::Store> store_;
  std::deque<Cvar> list_;
  std::map<std::string, int, std::less<>> by_name_;
  std::deque<std::vector<ashlar_param>> rows_;  // copies: a component's own go away with it
  std::deque<std::vector<const char*>> choices_;
  std::map<std::string, std::string, std::less<>> components_;
  param::TextPool pool_;
  unsigned seen_ = 0;                          // of InForce::published
  std::unique_ptr<StartParams> before_start_;  // components that it has opened point into it
};

Cvars& cvars();

/// Behind MPI_T_cvar_handle.
struct CvarHandle : Tagged {
  CvarHandle() : Tagged(Tag::kCvar) {}
  const Cvar* cvar = nullptr;
  int count = 0;
  Bound bound;
};

}  // namespace ashlar::mpit
