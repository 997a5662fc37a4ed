#pragma once
#include "framework/param/store.h"
#include "framework/plugin/registry.h"

namespace ashlar::mpit {

/// The parameters that this process will start with, before it has: those of its job where a launcher of ours started
/// it, without joining it, and those of the files and the environment otherwise.
struct StartParams {
  param::Store params;
  plugin::Registry registry{&params};
  /// Mistakes in files are reported when MPI starts; the rest is in force.
  void read();
};

}  // namespace ashlar::mpit
