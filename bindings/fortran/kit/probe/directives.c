/* What arrives at the address. A real or double precision number may have the size of another kind: its first bytes
 * tell. */
#include "probe.h"

/* To the three numbers of a row: whether these were 1, 3 and 5. */
static int add_ten(void* row) {
  for (int i = 0; i < 3; i++) {
    if (ASHLAR_F_REAL == 8) {
      double* number = (double*)row + i;
      if (*number != 1 + 2 * i) return 0;
      *number += 10;
    } else {
      float* number = (float*)row + i;
      if (*number != (float)(1 + 2 * i)) return 0;
      *number += 10;
    }
  }
  return 1;
}

void PROBE_NAME(ashlar_probe_take, ASHLAR_PROBE_TAKE)(void* buffer, const probe_int* form, probe_int* right);
void PROBE_NAME(ashlar_probe_take, ASHLAR_PROBE_TAKE)(void* buffer, const probe_int* form, probe_int* right) {
  const double number = ASHLAR_F_REAL == 8 ? *(const double*)buffer : (double)*(const float*)buffer;
  switch (*form) {
    case 1:
      *right = *(const probe_int*)buffer == 5;
      break;
    case 2:
      *right = *(const probe_int*)buffer == 3;
      break;
    case 3:
      *right = number == 6;
      break;
    case 4:
      *right = number == 8;
      break;
    case 5:
      *right = ASHLAR_F_DOUBLE != 8 || *(const double*)buffer == 7;
      break;
    case 6:
      *right = *(const char*)buffer == 'w';
      break;
    case 7:
      *right = add_ten(buffer);
      break;
    default:
      *right = 0;
  }
}
