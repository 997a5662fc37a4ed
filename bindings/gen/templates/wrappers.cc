// Wrappers around the MPI calls. Generated; do not edit.
// Made by: python3 bindings/gen/generate.py --wrappers DIR
#include "bindings/tool/watch.h"

using namespace ashlar::tool;  // NOLINT: the file holds nothing but C functions

namespace {

const ashlar_tool_procedure kProcedures[] = {
@ROWS@
};

void attach(const ashlar_call_hooks* to) { hooks.store(to, std::memory_order_release); }

}  // namespace

extern "C" {

extern const ashlar_call_wrappers ashlar_call_wrappers_v1;
const ashlar_call_wrappers ashlar_call_wrappers_v1 = {.size = sizeof(ashlar_call_wrappers),
                                                      .procedure_count = sizeof kProcedures / sizeof *kProcedures,
                                                      .procedures = kProcedures,
                                                      .attach = attach};

@FUNCTIONS@

}  // extern "C"
