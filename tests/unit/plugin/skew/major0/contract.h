/* A contract of major version 0, for the tests of adapters: another symbol, other members, other functions. */
#ifndef ASHLAR_TESTS_CONTRACT_0_H
#define ASHLAR_TESTS_CONTRACT_0_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ASHLAR_COMPONENT_0_SYMBOL "ashlar_component_v0"

typedef struct ashlar_component_0 {
  const char* name; /* of a report component; there were no others */
  uint32_t size;
  int (*start)(void); /* 0: it works */
  /* How much it wants to serve, -1: it cannot; writes why. */
  int (*rate)(char* why, size_t room);
  void (*print)(const char* line);
} ashlar_component_0;

extern __attribute__((visibility("default"))) const ashlar_component_0 ashlar_component_v0;

#ifdef __cplusplus
}
#endif
#endif
