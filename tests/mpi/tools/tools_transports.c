/* What transports tell tools: messages and bytes of the one between processes and of the one to oneself. */
#include "hear.h"

enum { kTimes = 100, kLong = 1000 };

static void between(void) {
  static char data[kLong];
  Pvar ring = pvar_begin("transport.shm.sent_ring_bytes", MPI_T_PVAR_CLASS_AGGREGATE, NULL);
  Pvar longer = pvar_begin("transport.shm.sent_long", MPI_T_PVAR_CLASS_COUNTER, NULL);
  Pvar bytes = pvar_begin("transport.shm.sent_long_bytes", MPI_T_PVAR_CLASS_AGGREGATE, NULL);
  Pvar received = pvar_begin("transport.shm.received_ring_bytes", MPI_T_PVAR_CLASS_AGGREGATE, NULL);
  const int next = (check_rank + 1) % check_size, before = (check_rank + check_size - 1) % check_size;
  for (int i = 0; i < kTimes; ++i)
    MUST(MPI_Sendrecv(data, 8, MPI_CHAR, next, 0, data, 8, MPI_CHAR, before, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CHECK(pvar_value(&ring, 0) >= kTimes * 64ull, "%llu", pvar_value(&ring, 0));
  CHECK(pvar_value(&longer, 0) < kTimes, "%llu", pvar_value(&longer, 0));
  for (int i = 0; i < kTimes; ++i) {
    char in[kLong];
    MUST(MPI_Sendrecv(data, kLong, MPI_CHAR, next, 0, in, kLong, MPI_CHAR, before, 0, MPI_COMM_WORLD,
                      MPI_STATUS_IGNORE));
  }
  CHECK(pvar_value(&longer, 0) >= kTimes, "%llu", pvar_value(&longer, 0));
  CHECK(pvar_value(&bytes, 0) >= kTimes * (Value)kLong, "%llu", pvar_value(&bytes, 0));
  CHECK(pvar_value(&received, 0) >= kTimes * (kLong + 2 * 64ull), "%llu", pvar_value(&received, 0));
  CHECK(pvar_value(&ring, 0) >= pvar_value(&bytes, 0) + kTimes * 64ull, "%llu", pvar_value(&ring, 0));
  pvar_end(&ring), pvar_end(&longer), pvar_end(&bytes), pvar_end(&received);
}

static void to_oneself(void) {
  char out[kLong] = {0}, in[kLong];
  Pvar sent = pvar_begin("transport.self.sent", MPI_T_PVAR_CLASS_COUNTER, NULL);
  Pvar bytes = pvar_begin("transport.self.sent_bytes", MPI_T_PVAR_CLASS_AGGREGATE, NULL);
  Pvar queued = pvar_begin("transport.self.queued", MPI_T_PVAR_CLASS_LEVEL, NULL);
  Pvar peak = pvar_begin("transport.self.queued_peak", MPI_T_PVAR_CLASS_HIGHWATERMARK, NULL);
  for (int i = 0; i < kTimes; ++i)
    MUST(MPI_Sendrecv(out, kLong, MPI_CHAR, 0, 0, in, kLong, MPI_CHAR, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE));
  CHECK(pvar_value(&sent, 0) >= kTimes, "%llu", pvar_value(&sent, 0));
  CHECK(pvar_value(&bytes, 0) >= kTimes * (Value)kLong, "%llu", pvar_value(&bytes, 0));
  CHECK_EQ(pvar_value(&queued, 0), 0);
  CHECK(pvar_value(&peak, 0) >= kLong, "%llu", pvar_value(&peak, 0));
  pvar_end(&sent), pvar_end(&bytes), pvar_end(&queued), pvar_end(&peak);
}

int main(int argc, char** argv) {
  int provided = 0;
  CHECK_EQ(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), MPI_SUCCESS);
  check_start(&argc, &argv);
  if (check_size > 1) between();
  to_oneself();
  const int failed = check_end();
  CHECK_EQ(MPI_T_finalize(), MPI_SUCCESS);
  return failed || check_failures;
}
