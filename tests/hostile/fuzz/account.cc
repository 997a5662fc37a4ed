// What the ranks write about what they do, which mpiexec puts into words: the input is cut at each % into one page for
// each rank.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "framework/plugin/account.h"
#include "mpiexec/waits_json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ashlar;
  const std::string text(reinterpret_cast<const char*>(data), size);
  std::vector<mpiexec::RankStatus> ranks;
  for (std::size_t at = 0; at <= text.size() && ranks.size() < 8;) {
    const std::size_t end = std::min(text.find('%', at), text.size());
    mpiexec::RankStatus s;
    s.state = launch::RankState::kInitialized;
    s.answered = true;
    s.account = plugin::Account::parse(text.substr(at, end - at));
    ranks.push_back(std::move(s));
    at = end + 1;
  }
  if (mpiexec::waits_in_words(ranks).empty()) std::abort();
  if (mpiexec::waits_json(ranks, {}, mpiexec::WaitsReason::kQuery).empty()) std::abort();
  return 0;
}
