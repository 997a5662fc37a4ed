#pragma once
#include <cstdint>
#include <string>

#include "framework/base/status.h"
#include "mpiexec/options.h"
#include "mpiexec/tree.h"

namespace ashlar::mpiexec {

/// What files, environment and command line together say, for mpiexec itself and for the ranks.
struct Settings {
  BindTo bind = BindTo::kAuto;
  MapBy map = MapBy::kAuto;
  std::string pmix = "auto";  // auto, on, off
  std::uint64_t pmix_data = 32u << 20;
  bool oversubscribe = true;
  bool keep_going = false;  // when a rank fails
  std::uint64_t kill_grace_ns = 1'000'000'000;
  std::uint64_t board_per_rank = 64 * 1024;
  bool tools = false;  // some are to watch the ranks' calls
  std::uint64_t tool_buffer = 0;
  std::uint64_t tool_refresh_ns = 0;  // between two samples of what they record; 0: none is taken
  std::uint64_t stall_ns = 0;         // after which a stall is told; 0: never
  bool records = false;               // report=json: programs read what is said
  std::string records_file;           // report.json.file
  std::string start_words;            // for the ranks' MPI_INFO_ENV (plugin/start_words.h)
  std::string launch_agent;           // the command that leads to another host
  std::uint64_t start_timeout_ns = 0, start_retry_ns = 0;
  std::uint64_t silence_ns = 0;           // after which a host is lost; 0: never
  Tree tree;                              // of the ways to other hosts
  std::uint64_t check_timeout_ns = 0;     // of a way between two hosts that --check tries
  bool tcp = false;                       // transport.tcp is there, and may be chosen
  std::string tcp_interfaces, tcp_ports;  // transport.tcp.*, with which --check tries the ways
  std::uint64_t tcp_exchange = 0;
  std::string for_ranks;  // param::Store's text: ranks read no file of their own
};

/// Merges every source of parameters. Notices go to standard error at once. Fails when something on the
/// command line or in a file is wrong.
Status load_settings(const Options& options, const std::string& host, const char* const* environment,
                     Settings* settings);

/// The folder above bin/ in which this mpiexec lies.
std::string own_prefix();

}  // namespace ashlar::mpiexec
