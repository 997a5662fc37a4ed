#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// How a process asks a launcher for a further job, over a connected stream socket: a message that is a request, then
/// messages that are answers. A message is the number of its bytes (64 bits) and that many bytes: texts, each ended by
/// a zero. Both sides are of one build.
namespace ashlar::launch {

/// The descriptor of the socket, in the environment of a launcher that is to start a further job; behind a colon, the
/// name of the job.
inline constexpr char kFurtherVariable[] = "ASHLAR__FURTHER";

/// Answers begin with one of these. kStarted: a number of processes for each program. kRefused: the program at fault,
/// or -1, and a sentence. kOver: a sentence about how the job ended. kNamed, before kStarted: the job's id.
inline constexpr char kStarted[] = "started", kRefused[] = "refused", kOver[] = "over", kNamed[] = "named";

/// Keys of a program's info that no program of MPI sets. Of PMIx_Spawn: a variable of the environment, NAME=VALUE; who
/// asks, RANK:JOB.
inline constexpr char kPmixEnv[] = "ashlar pmix env", kPmixParent[] = "ashlar pmix parent";

struct FurtherJob {
  struct Program {
    std::string processes;  // at most
    std::vector<std::string> argv;
    std::vector<std::pair<std::string, std::string>> info;
  };
  std::string port;    // where the processes that ask for it listen; a secret
  std::string folder;  // the working directory of the process that asks
  std::vector<Program> programs;

  std::vector<std::string> texts() const {
    std::vector<std::string> out{port, folder, std::to_string(programs.size())};
    for (const Program& program : programs) {
      out.push_back(program.processes);
      out.push_back(std::to_string(program.argv.size()));
      out.insert(out.end(), program.argv.begin(), program.argv.end());
      out.push_back(std::to_string(program.info.size()));
      for (const auto& [key, value] : program.info) out.insert(out.end(), {key, value});
    }
    return out;
  }

  /// False: it is no such request.
  bool read(const std::vector<std::string>& texts) {
    std::size_t at = 0;
    bool whole = true;
    const auto next = [&]() -> std::string {
      if (at < texts.size()) return texts[at++];
      whole = false;
      return {};
    };
    const auto number = [&] { return static_cast<std::size_t>(std::strtoul(next().c_str(), nullptr, 10)); };
    port = next();
    folder = next();
    const std::size_t count = number();
    for (std::size_t i = 0; whole && i < count; ++i) {
      Program program;
      program.processes = next();
      const std::size_t words = number();
      for (std::size_t w = 0; whole && w < words; ++w) program.argv.push_back(next());
      const std::size_t pairs = number();
      for (std::size_t p = 0; whole && p < pairs; ++p) {
        std::string key = next();
        program.info.emplace_back(std::move(key), next());
      }
      programs.push_back(std::move(program));
    }
    return whole && !programs.empty();
  }
};

inline std::string message_of(const std::vector<std::string>& texts) {
  std::string bytes(sizeof(std::uint64_t), '\0');
  for (const std::string& text : texts) bytes.append(text.c_str(), text.size() + 1);
  const std::uint64_t length = bytes.size() - sizeof length;
  std::memcpy(bytes.data(), &length, sizeof length);
  return bytes;
}

/// Takes the first message out of what has arrived. False: it is not whole yet.
inline bool take_message(std::string* arrived, std::vector<std::string>* texts) {
  std::uint64_t length = 0;
  if (arrived->size() < sizeof length) return false;
  std::memcpy(&length, arrived->data(), sizeof length);
  if (arrived->size() - sizeof length < length) return false;
  texts->clear();
  std::string_view rest = std::string_view(*arrived).substr(sizeof length, length);
  while (!rest.empty()) {
    const std::size_t end = rest.find('\0');
    texts->emplace_back(rest.substr(0, end));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  arrived->erase(0, sizeof length + length);
  return true;
}

}  // namespace ashlar::launch
