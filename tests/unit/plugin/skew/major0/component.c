/* A report component of contract 0; NAME, and START what start() gives. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/plugin/skew/major0/contract.h"

static int start(void) { return START; }
static int rate(char* why, size_t room) {
  snprintf(why, room, "%s is from the old days", NAME);
  return 40;
}
static void print(const char* line) {
  FILE* out = fopen(getenv("OLD_COMPONENT_FILE"), "a");
  if (!out) return;
  fprintf(out, "%s: %s\n", NAME, line);
  fclose(out);
}

const ashlar_component_0 ashlar_component_v0 = {NAME, sizeof(ashlar_component_0), start, rate, print};
