#pragma once
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "framework/base/status.h"
#include "framework/base/types.h"
#include "framework/plugin/launch.h"
#include "framework/plugin/registry.h"
#include "framework/plugin/transport.h"
#include "framework/progress/lane.h"
#include "framework/runtime/preamble.h"

namespace ashlar {

class Process;

/// The transports of this process and how they meet those of others: addresses published through the launcher, an
/// endpoint made on first use by the first transport that proves itself, a record of why the others did not serve.
class Wiring {
 public:
  explicit Wiring(Process& process) : process_(process) {}
  ~Wiring();
  /// Makes one interface of every usable transport on `lane`.
  Status open(Lane& lane) ASHLAR_REQUIRES(lane.lock);
  /// Makes the interfaces that reach processes of other nodes, where open() has left them out because there were none;
  /// from now on own_card() has their addresses. Under the locks of all lanes.
  void open_networks();
  /// Publishes all addresses, and the values that the processes of the job must have in common. A fence must follow.
  Status publish();
  /// What this process has published, and its host: for processes of other jobs, which do not share its launcher.
  std::string own_card();
  /// Keeps the card of a process of another job. Fails when the two have other versions, or other settings where they
  /// must be equal.
  Status take_card(PeerId peer, std::string_view card);
  void drop_card(PeerId peer);
  /// "rank 3", or "rank 3 of job 17.5a" of another job.
  std::string name_of(PeerId peer);
  /// Host name of a process of another job, as it gave it itself.
  std::string host_of_other(PeerId peer);
  /// What processes of one node have in common, whatever their job; of a process of another job.
  std::string node_of(PeerId peer);
  const std::string& own_node() const { return own_node_; }
  /// Its hash, of any process. That of this job's is asked for once for each node.
  std::uint64_t node_identity(PeerId peer);
  /// Compares these values with those of `peer`: MPI_ERR_OTHER with the first difference, its ranks, hosts and origins.
  /// Equality being transitive, a tree of comparisons over all processes is enough.
  Status compare_settings(PeerId peer);
  /// PeerTable's connector.
  static Status connect(void* self, Lane& lane, PeerId peer, ashlar_endpoint** endpoint, ashlar_iface** iface);
  /// Whether everything sent on `lane` has left its interfaces.
  bool idle(const Lane& lane);
  /// Tells peers that this process makes no progress any more, or makes it again.
  void rest(bool resting);

 private:
  static constexpr char kNode[] = "node";  // a record

  struct Way {
    plugin::Component* component;
    ashlar_iface* iface;
    unsigned lane;
    std::string key;  // under which the address is published
  };
  ashlar_transport_context context_for(Lane& lane) const;
  Status open_ways(Lane& lane, const ashlar_transport_context& context) ASHLAR_REQUIRES(lane.lock);
  Status read_address(const Way& way, std::vector<std::uint8_t>* blob, std::size_t* bytes) const;
  void show(const Way& way, const std::vector<std::uint8_t>& blob, std::size_t bytes);
  runtime::Preamble own_preamble() const;
  /// A process of sessions does not wait for all others, so a peer may be late. False: it did not come in time.
  bool wait_for_addresses(PeerId peer);
  /// `one_lane`: the peer has no such lane, and the address is that of its first.
  /// `same_settings`: whether it has the values in common with this process that all must.
  /// As ashlar_launch_ops::get, of whatever job the process is.
  ashlar_result get(PeerId peer, const std::string& key, void* buffer, std::size_t* bytes);
  std::uint64_t identity_of_node(std::uint32_t node, PeerId member);
  std::string record_of(PeerId peer, const char* key);
  Status address_of(PeerId peer, const Way& way, std::vector<std::uint8_t>* address, bool* one_lane,
                    bool* same_settings);

  Process& process_;
  std::uint64_t settings_ = 0;  // the hash of the values that were published
  std::string left_out_;        // transports that cannot serve here, each with its reason
  std::string own_node_;
  bool networks_open_ = false;  // open_networks() has been called
  std::vector<Way> ways_;       // best first, per lane
  using Records = std::map<std::string, std::string, std::less<>>;
  std::mutex mutex_;                                   // guards the rest
  Records published_;                                  // by this process
  std::map<PeerId, Records> cards_;                    // of processes of other jobs
  std::map<std::uint32_t, std::uint64_t> identities_;  // of nodes of this job
};

}  // namespace ashlar
