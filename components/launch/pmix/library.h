#pragma once
#include <pmix.h>

#include "framework/plugin/component.h"

namespace ashlar::launch {

/// The functions of libpmix that we use, found at run time: a rank that is not under a PMIx launcher never loads the
/// library (it brings libevent, hwloc and munge, 2.4 MB and 12 ms), and a site can name the one that fits its launcher.
struct PmixLibrary {
  void* handle = nullptr;
  decltype(&PMIx_Init) init = nullptr;
  decltype(&PMIx_Finalize) finalize = nullptr;
  decltype(&PMIx_Put) put = nullptr;
  decltype(&PMIx_Commit) commit = nullptr;
  decltype(&PMIx_Fence_nb) fence_nb = nullptr;
  decltype(&PMIx_Get) get = nullptr;
  decltype(&PMIx_Abort) abort = nullptr;
  decltype(&PMIx_Register_event_handler) register_events = nullptr;
  decltype(&PMIx_Error_string) error_string = nullptr;
  decltype(&PMIx_Get_version) version = nullptr;
  decltype(&PMIx_Query_info) query_info = nullptr;  // nullptr: this version does not have it

  /// Loads `file`. The library stays loaded: it has threads.
  ashlar_result load(const ashlar_host& host, const char* file);
};

}  // namespace ashlar::launch
