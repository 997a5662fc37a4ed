// The command line of mpiexec: the input's lines are its words.
#include "mpiexec/options.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ashlar::mpiexec;
  std::vector<std::string> words{"mpiexec"};
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    // A word of a command line ends with its first zero; a file that is named could be a pipe that never ends.
    std::string word = text.substr(at, end - at).c_str();
    std::replace(word.begin(), word.end(), '/', '_');
    words.push_back(word);
    at = end + 1;
  }
  std::vector<const char*> argv;
  for (const std::string& word : words) argv.push_back(word.c_str());
  Options options;
  if (const auto status = parse_options(static_cast<int>(argv.size()), argv.data(), &options); !status.ok()) {
    if (*status.text() == '\0') std::abort();
  } else if (!options.help && !options.version) {
    if (options.segments.empty() || options.ranks() == 0) std::abort();
    for (const Segment& segment : options.segments)
      if (segment.argv.empty() || segment.argv[0].empty() || segment.ranks == 0) std::abort();
  }
  return 0;
}
