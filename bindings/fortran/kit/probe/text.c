/* Looks at the lengths in both forms. */
#include "probe.h"

#define TEXT(NAME, LENGTH)                                                                                           \
  void NAME(const char* a, const probe_int* i, const char* b, const probe_int* j, const char* c, const probe_int* k, \
            const probe_int* l, const probe_int* m, const probe_int* n, probe_int* right, LENGTH a_length,           \
            LENGTH b_length, LENGTH c_length);                                                                       \
  void NAME(const char* a, const probe_int* i, const char* b, const probe_int* j, const char* c, const probe_int* k, \
            const probe_int* l, const probe_int* m, const probe_int* n, probe_int* right, LENGTH a_length,           \
            LENGTH b_length, LENGTH c_length) {                                                                      \
    *right = a[0] == 'f' && b[0] == 's' && c[3] == 'd' && *i + *j + *k + *l + *m + *n == 21 && a_length == 4 &&      \
             b_length == 7 && c_length == 3;                                                                         \
  }

TEXT(PROBE_NAME(ashlar_probe_text_long, ASHLAR_PROBE_TEXT_LONG), size_t)
TEXT(PROBE_NAME(ashlar_probe_text_int, ASHLAR_PROBE_TEXT_INT), int)
