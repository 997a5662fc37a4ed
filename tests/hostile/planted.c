/* A component of a framework that every process opens, which leaves a mark when it is loaded: proof that a process ran
 * code it should not have. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "framework/plugin/coll.h"
#include "framework/plugin/component.h"

__attribute__((constructor)) static void leave_mark(void) {
  char name[200];
  snprintf(name, sizeof name, "%s/loaded-by-%u", MARKS, (unsigned)geteuid());
  const int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (fd >= 0) close(fd);
}

static void query(const void* context, ashlar_answer* answer) {
  (void)context;
  answer->priority = -1;
  snprintf(answer->reason, sizeof answer->reason, "it only leaves a mark");
}
static ashlar_result create(const void* context, void** module) {
  (void)context;
  (void)module;
  return -16;
}

const ashlar_component ashlar_component_v1 = {
    .size = sizeof(ashlar_component),
    .abi_major = ASHLAR_COMPONENT_MAJOR,
    .abi_minor = ASHLAR_COMPONENT_MINOR,
    .framework = "coll",
    .name = "planted",
    .version = "1.0.0",
    .description = "leaves a mark when it is loaded",
    .interface_version = ASHLAR_COLL_INTERFACE,
    .query = query,
    .create = create,
};
