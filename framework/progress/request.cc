#include "framework/progress/request.h"

namespace ashlar {

void Request::finish_unheld() {
  Gate* const waiting = gate;
  const Status result = outcome;
  ops->release(*this);
  if (waiting != nullptr) waiting->arrive(result);
}

}  // namespace ashlar
