/* The one entry of libashlar_yaml.so, which alone needs yaml-cpp and the C++ library. It turns a file into settings:
 * nested maps become dotted keys, {value, lock, when} become attributes, sequences of scalars become "a,b,c".
 * A file has at most ASHLAR_YAML_MOST_VALUES values, those behind aliases counted each time, and
 * ASHLAR_YAML_DEEPEST levels; the first problem beyond ends the reading. */
#ifndef ASHLAR_YAML_ENTRY_H
#define ASHLAR_YAML_ENTRY_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ASHLAR_YAML_MOST_VALUES 100000
#define ASHLAR_YAML_DEEPEST 32

#define ASHLAR_YAML_SYMBOL "ashlar_yaml_read_v2"

typedef struct ashlar_yaml_sink {
  void* self;
  /* `when` has the form of condition.h, "" without conditions. */
  void (*setting)(void* self, const char* key, const char* value, int line, int lock, const char* when);
  void (*host_class)(void* self, const char* name, const char* pattern, int line);
  void (*problem)(void* self, int line, const char* text); /* what cannot be used */
  void (*notice)(void* self, int line, const char* text);  /* what is used and probably not meant */
} ashlar_yaml_sink;

typedef void ashlar_yaml_read(const char* text, size_t length, const ashlar_yaml_sink* sink);

#ifdef __cplusplus
}
#endif
#endif
