/* What transports tell tools: messages and bytes of the one between processes and of the one to oneself. The argument
 * is the name of the transport between processes, "shm" without it. */
#include "hear.h"

enum { kTimes = 100, kLong = 1000, kFetched = 1 << 20 };

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

/* A variable of the network that is chosen. */
static Pvar of_network(const char* network, const char* what, int class) {
  char name[100];
  snprintf(name, sizeof name, "transport.%s.%s", network, what);
  return pvar_begin(name, class, NULL);
}

/* Short messages go as they are; a long one is fetched from its sender's memory. */
static void over_network(const char* network) {
  static char in[kFetched], out[kFetched];
  Pvar sent = of_network(network, "sent", MPI_T_PVAR_CLASS_COUNTER);
  Pvar sent_bytes = of_network(network, "sent_bytes", MPI_T_PVAR_CLASS_AGGREGATE);
  Pvar received = of_network(network, "received", MPI_T_PVAR_CLASS_COUNTER);
  Pvar received_bytes = of_network(network, "received_bytes", MPI_T_PVAR_CLASS_AGGREGATE);
  Pvar gets = of_network(network, "gets", MPI_T_PVAR_CLASS_COUNTER);
  Pvar get_bytes = of_network(network, "get_bytes", MPI_T_PVAR_CLASS_AGGREGATE);
  Pvar looks = of_network(network, "looks", MPI_T_PVAR_CLASS_COUNTER);
  Pvar empty = of_network(network, "empty_looks", MPI_T_PVAR_CLASS_COUNTER);
  Pvar buffered = of_network(network, "buffered", MPI_T_PVAR_CLASS_LEVEL);
  const int next = (check_rank + 1) % check_size, before = (check_rank + check_size - 1) % check_size;
  for (int i = 0; i < kTimes; ++i)
    MUST(
        MPI_Sendrecv(out, kLong, MPI_CHAR, next, 0, in, kLong, MPI_CHAR, before, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  /* What is said of a message may follow it, and what is said of others may come in between. */
  CHECK(pvar_value(&sent, 0) >= kTimes && pvar_value(&sent, 0) < 2 * kTimes, "%llu", pvar_value(&sent, 0));
  CHECK(pvar_value(&received, 0) >= kTimes && pvar_value(&received, 0) < 2 * kTimes, "%llu", pvar_value(&received, 0));
  CHECK(pvar_value(&sent_bytes, 0) >= kTimes * (Value)kLong, "%llu", pvar_value(&sent_bytes, 0));
  CHECK(pvar_value(&received_bytes, 0) >= kTimes * (Value)kLong, "%llu", pvar_value(&received_bytes, 0));
  CHECK_EQ(pvar_value(&gets, 0), 0);
  MUST(MPI_Sendrecv(out, kFetched, MPI_CHAR, next, 0, in, kFetched, MPI_CHAR, before, 0, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
  CHECK_EQ(pvar_value(&gets, 0), 1);
  CHECK_EQ(pvar_value(&get_bytes, 0), kFetched);
  CHECK(pvar_value(&looks, 0) > pvar_value(&empty, 0), "%llu looks, %llu of them empty", pvar_value(&looks, 0),
        pvar_value(&empty, 0));
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  CHECK(pvar_value(&buffered, 0) < kFetched, "%llu bytes wait", pvar_value(&buffered, 0));
  pvar_end(&sent), pvar_end(&sent_bytes), pvar_end(&received), pvar_end(&received_bytes);
  pvar_end(&gets), pvar_end(&get_bytes), pvar_end(&looks), pvar_end(&empty), pvar_end(&buffered);
}

static void connections(void) {
  Pvar now = pvar_begin("transport.tcp.connections", MPI_T_PVAR_CLASS_LEVEL, NULL);
  Pvar peak = pvar_begin("transport.tcp.connections_peak", MPI_T_PVAR_CLASS_HIGHWATERMARK, NULL);
  Pvar served = pvar_begin("transport.tcp.served_bytes", MPI_T_PVAR_CLASS_AGGREGATE, NULL);
  over_network("tcp");
  CHECK(pvar_value(&now, 0) >= 1, "%llu", pvar_value(&now, 0));
  CHECK(pvar_value(&peak, 0) >= pvar_value(&now, 0), "%llu", pvar_value(&peak, 0));
  CHECK_EQ(pvar_value(&served, 0), kFetched);
  pvar_end(&now), pvar_end(&peak), pvar_end(&served);
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
  const char* const network = argc > 1 ? argv[1] : "shm";
  if (strcmp(network, "tcp") == 0) {
    connections();
  } else if (strcmp(network, "shm") != 0) {
    over_network(network);
  } else if (check_size > 1) {
    between();
  }
  to_oneself();
  const int failed = check_end();
  CHECK_EQ(MPI_T_finalize(), MPI_SUCCESS);
  return failed || check_failures;
}
