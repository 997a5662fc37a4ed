/* Each way in which a Fortran compiler may write ASHLAR_PROBE_NAME. One byte is written: the size of INTEGER is not
 * known yet, and the variable is zero before. */
void ashlar_probe_name_(char* way);
void ashlar_probe_name__(char* way);
void ashlar_probe_name(char* way);
void ASHLAR_PROBE_NAME(char* way);

static void answer(char* way, char number) {
  const short one = 1;
  const int little = *(const char*)&one;
  way[little ? 0 : 3] = number;
}

void ashlar_probe_name_(char* way) { answer(way, 1); }
void ashlar_probe_name__(char* way) { answer(way, 2); }
void ashlar_probe_name(char* way) { answer(way, 3); }
void ASHLAR_PROBE_NAME(char* way) { answer(way, 4); }
