#pragma once
#include "framework/plugin/tables.h"
#include "tests/conformance/transport/pair.h"

namespace ashlar::test {

/// What b has put into a's memory is there afterwards.
inline ashlar_result flush(Pair& pair) {
  if (pair.to_a->ops->flush == nullptr) return ASHLAR_OK;
  Completion done;
  ashlar_result result = ASHLAR_AGAIN;
  while (result == ASHLAR_AGAIN) {
    result = pair.to_a->ops->flush(pair.to_a, &done);
    if (result == ASHLAR_AGAIN) pair.b().progress();
  }
  return pair.outcome(result, done);
}

/// Memory of a that b reaches by a key.
class Exposed {
 public:
  Exposed(Pair& pair, void* address, std::size_t bytes) : pair_(pair) {
    EXPECT_EQ(pair.a().ops().expose(pair.a().get(), address, bytes, ASHLAR_MEMORY_HOST, &key), ASHLAR_OK)
        << last_failure();
  }
  ~Exposed() { pair_.a().ops().unexpose(pair_.a().get(), &key); }
  Exposed(const Exposed&) = delete;
  Exposed& operator=(const Exposed&) = delete;

  ashlar_key key = {};

 private:
  Pair& pair_;
};

}  // namespace ashlar::test
