/* The one entry of libashlar_yaml.so, which alone needs yaml-cpp and the C++ library. It turns a file into settings:
 * nested maps become dotted keys, {value, lock, when} become attributes, sequences of scalars become "a,b,c". */
#ifndef ASHLAR_YAML_ENTRY_H
#define ASHLAR_YAML_ENTRY_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ASHLAR_YAML_SYMBOL "ashlar_yaml_read_v1"

typedef struct ashlar_yaml_sink {
  void* self;
  /* `when` has the form of condition.h, "" without conditions. */
  void (*setting)(void* self, const char* key, const char* value, int line, int lock, const char* when);
  void (*host_class)(void* self, const char* name, const char* pattern, int line);
  void (*problem)(void* self, int line, const char* text);
} ashlar_yaml_sink;

typedef void ashlar_yaml_read(const char* text, size_t length, const ashlar_yaml_sink* sink);

#ifdef __cplusplus
}
#endif
#endif
