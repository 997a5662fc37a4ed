#pragma once
#include <poll.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "mpiexec/board.h"
#include "mpiexec/host_clock.h"
#include "mpiexec/rank_events.h"
#include "mpiexec/remote_node.h"
#include "mpiexec/tree.h"

namespace ashlar::mpiexec {

/// What mpiexec hears of other hosts beside what their ranks do.
class NodeEvents : public RankEvents {
 public:
  /// The daemon of the node is gone; `how` ends a sentence.
  virtual void node_lost(unsigned node, const std::string& how) = 0;
  /// The agent of a host is started again for some time, the first one of the job: why, for the user who waits.
  virtual void host_tried_again(const Status& why) = 0;
  /// A rank of the node wants something of mpiexec (control.h).
  virtual void rank_called(unsigned node, std::uint32_t call) = 0;
  /// Bytes of such a call, which may be over here; none: the rank is gone.
  virtual void rank_asks(unsigned node, std::uint32_t call, std::string_view bytes) = 0;
};

/// The hosts of a job that are not this one: their start, what their ranks do, and what they are told. Daemons never
/// talk to each other; a question of one for another goes through here. In a tree of them some pass on the bytes of
/// others.
class RemoteNodes {
 public:
  explicit RemoteNodes(NodeEvents& events) : events_(events) {}
  /// The daemons end their ranks, and the agents that do not end by that are killed.
  ~RemoteNodes();
  RemoteNodes(const RemoteNodes&) = delete;
  RemoteNodes& operator=(const RemoteNodes&) = delete;

  /// Starts an agent for each host of `nodes` but its own one, as far as `tree` does not leave that to a daemon. A host
  /// is lost that is silent for `silence_ns`; 0: none. `inherited` outlives this.
  Status launch(const NodeMap& nodes, const AgentFacts& agent, const Inherited& inherited, const Tree& tree,
                std::uint64_t silence_ns);
  bool any() const { return !nodes_.empty(); }
  /// Tools watch the ranks: the clocks of hosts are compared before these are ready. Before launch().
  void watch_with_tools() { with_tools_ = true; }
  /// The board of mpiexec itself, which shows all ranks; from now on there is one.
  void set_board(Board* board);

  /// Whether every host has come so far.
  bool all(RemoteNode::Phase phase) const;
  /// The first host that cannot take part, if there is one.
  Status failure(std::uint64_t now) const;
  /// How they are reached, for people; "": all from here.
  std::string ways() const;
  /// Processors of all hosts that have said their line.
  unsigned cpus() const;
  void order(const JobOrder& order);
  /// What each host has decided, by node; empty for the own one.
  const std::vector<NodeReady>& ready() const { return ready_; }
  void start();

  void add(std::vector<pollfd>* fds);
  void handle(const std::vector<pollfd>& fds, std::uint64_t now);
  void flush();
  bool take_end(pid_t pid, int wait_status, std::uint64_t now);
  void check(std::uint64_t now);
  std::uint64_t next_ns() const;

  void signal_all(int number);
  void signal(unsigned rank, int number);
  void stop();
  void publish_end(unsigned rank, int wait_status, bool failed, std::uint32_t fences);
  void fence_done(std::uint32_t generation);
  /// Bytes for a rank that has called; none: nobody is there any more.
  void reply(unsigned node, std::uint32_t call, std::string_view bytes);
  /// A rank of this host asks.
  void look_up(const RecordWanted& wanted);
  void close_stream(unsigned rank, bool error_stream);
  /// Output may come again, as far as `full` streams do not forbid it.
  void give_room(bool full);
  /// Asks the hosts for what the board of mpiexec is asked for.
  void pass_queries_on(std::uint64_t now);
  void refresh();
  void leave();
  /// Has what the tools of all ranks have recorded brought to the board of mpiexec; of what samples do not read, only
  /// with `whole`. None is being brought.
  void bring_tools(bool whole);
  bool bringing_tools() const;
  /// What has come of a host in part is forgotten: figures of it would be wrong, and look right.
  void drop_parts();
  /// By rank, as tools read it. Only with tools.
  std::vector<ashlar_tool_host_clock> clocks() const;
  /// All ranks have been killed: a host that does not answer now is lost.
  void hurry(std::uint64_t now);

  /// Bytes of input that the rank has room for; 0 also when it reads no more.
  std::size_t input_room() const { return input_closed_ ? 0 : kMostInput - input_sent_; }
  bool input_closed() const { return input_closed_; }
  void input(unsigned rank, std::string_view bytes);

 private:
  static constexpr std::size_t kMostInput = 1u << 18;

  /// One question for a record that is under way to the owner's daemon.
  struct Ticket {
    bool open = false;
    unsigned from = 0;  // the node of the rank that asks
    RecordWanted wanted;
  };
  /// What is known of a node beside its link.
  struct Facts {
    std::uint64_t output = 0;  // bytes that were taken and not yet acknowledged
    bool asked = false;        // an answer to kAsk is under way
    std::uint64_t asked_ns = 0;
    std::int64_t clock = INT64_MAX;  // the smallest difference that was seen
    std::uint64_t beat_ns = 0;
    std::uint32_t calls = 0;
    std::uint64_t retry_ns = 0, retry_until_ns = 0;  // when its agent is started again; 0: it is not
    HostClock host_clock;                            // only with tools, as the next two
    unsigned exchanges = 0;                          // of a meeting: those that have not come back
    bool bringing = false;
  };
  // remote_tree.cc
  Status start(std::size_t place, RemoteNode* above, std::uint64_t now);
  void arrived(RemoteNode& node, std::uint64_t now);
  void try_again(std::size_t place, std::uint64_t now);
  void try_nearer(std::size_t place, std::uint64_t now);
  void lose_ways(const RemoteNode& through);
  bool handle_way(RemoteNode& node, const Frame& frame, std::uint64_t now);

  void take_frames(RemoteNode& node, std::uint64_t now);
  // False: the frame cannot be read, or has no place at this step.
  bool handle_frame(RemoteNode& node, const Frame& frame, std::uint64_t now);
  bool handle_refused(RemoteNode& node, Unpacker& from);
  bool handle_ready(RemoteNode& node, Unpacker& from);
  bool handle_rank(const RemoteNode& node, FrameKind kind, Unpacker& from);
  bool handle_call(const RemoteNode& node, FrameKind kind, Unpacker& from);
  void meet(RemoteNode& node);
  void ask_time(RemoteNode& node);
  bool take_time(RemoteNode& node, Unpacker& from);
  bool take_pages(const RemoteNode& node, Unpacker& from);
  bool take_views(RemoteNode& node, Unpacker& from, bool answers, std::uint64_t now);
  void found(const RecordAnswer& answer, unsigned from);
  void answer(const RecordAnswer& answer, unsigned to);
  void check_running(RemoteNode& node, std::uint64_t now);
  bool way_speaks(const RemoteNode& node, std::uint64_t now) const;
  std::string silence_words() const;
  void to_all(FrameKind kind, std::string_view body = {});
  RemoteNode* node_of(unsigned rank);
  bool is_of(const RemoteNode& node, std::uint32_t rank) const;

  NodeEvents& events_;
  NodeMap map_;
  AgentFacts agent_;
  const Inherited* inherited_ = nullptr;
  Tree tree_;
  unsigned detours_ = 0;  // ways that failed from another host
  bool told_ = false;     // that an agent is started again
  Status not_started_;    // of an agent that was to be tried in the place of another one
  Board* board_ = nullptr;
  std::vector<std::unique_ptr<RemoteNode>> nodes_;
  std::vector<std::vector<unsigned>> ranks_;  // by node
  std::vector<Facts> facts_;                  // by node
  std::vector<NodeReady> ready_;              // by node
  std::vector<Ticket> tickets_;
  std::vector<std::uint32_t> asked_, variables_asked_;  // per rank: questions that were passed on
  std::size_t input_sent_ = 0;
  bool input_closed_ = false;
  std::uint64_t silence_ns_ = 0, beat_ns_ = 0;  // a host is lost after; between two signs of life
  bool hurried_ = false;
  bool with_tools_ = false, whole_ = false;
  std::size_t first_ = 0;  // of the descriptors in the last add()
};

}  // namespace ashlar::mpiexec
