#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "mpiexec/frames.h"
#include "mpiexec/node_map.h"
#include "mpiexec/options.h"
#include "mpiexec/rank_events.h"
#include "mpiexec/settings.h"

// What travels between mpiexec and a daemon, each struct by one list of its fields for both directions.
namespace ashlar::mpiexec {

/// A job, the same for every daemon; kNode says which one it is.
struct JobOrder {
  Options options;
  Settings settings;
  NodeMap nodes;
  std::string job_id, launcher;
  std::string name, parent_port;  // as BoardFacts'
  std::uint64_t cookie = 0;
  unsigned universe = 0;
  std::vector<unsigned> taken;  // by node: how many ranks of the jobs above run there
  std::vector<std::string> environment;
  std::string folder;  // in which mpiexec runs

  /// Whether every rank is on a host of the job, and the daemon's host is one.
  bool fits() const {
    const std::size_t hosts = nodes.hosts.size();
    return nodes.node < hosts && taken.size() == hosts && nodes.node_of_rank.size() == options.ranks() &&
           std::all_of(nodes.node_of_rank.begin(), nodes.node_of_rank.end(), [hosts](auto n) { return n < hosts; });
  }
};

/// What a host answers to it.
struct NodeReady {
  std::vector<std::string> words;  // of each of its ranks: where it is bound
  bool oversubscribed = false;
  std::string what, because, lost;  // the decision on binding
  std::string pmix;                 // why it has a PMIx server; empty: it has none
};

struct RecordAnswer {
  RecordWanted wanted;
  bool found = false;
  std::string blob;
};

/// A rank's slot of its own board, for the one of mpiexec. Times are ages, in nanoseconds; negative: unknown.
struct RankView {
  std::uint32_t rank = 0, state = 0, pid = 0, attaches = 0, fences = 0, use = 0, waits = 0;
  std::int64_t heard_age = -1, moved_age = -1;
  // Only in an answer to kAsk.
  bool answered = false, variables_answered = false;
  std::uint32_t process = 0;  // as BoardFar
  std::string account = {}, newest_wait = {}, variables = {};
};

template <class Archive>
void fields(Archive& a, Segment& s) {
  a(s.ranks, s.asked, s.soft, s.argv, s.wdir, s.path, s.set, s.env);
}
/// Those that a daemon needs.
template <class Archive>
void fields(Archive& a, Options& o) {
  a(o.segments, o.env, o.bind, o.map, o.report_bindings, o.show_placement, o.tag_output, o.explain, o.output,
    o.stdin_rank, o.pmix_parent);
}
template <class Archive>
void fields(Archive& a, Settings& s) {
  a(s.bind, s.map, s.pmix, s.oversubscribe, s.keep_going, s.kill_grace_ns, s.board_per_rank, s.tools, s.tool_buffer,
    s.silence_ns, s.start_words, s.for_ranks);
}
template <class Archive>
void fields(Archive& a, NodeMap& n) {
  a(n.hosts, n.node_of_rank, n.node);
}
template <class Archive>
void fields(Archive& a, JobOrder& o) {
  a(o.options, o.settings, o.nodes, o.job_id, o.launcher, o.name, o.parent_port, o.cookie, o.universe, o.taken,
    o.environment, o.folder);
}
template <class Archive>
void fields(Archive& a, NodeReady& r) {
  a(r.words, r.oversubscribed, r.what, r.because, r.lost, r.pmix);
}
template <class Archive>
void fields(Archive& a, RecordWanted& w) {
  a(w.by, w.question, w.rank, w.attach, w.key);
}
template <class Archive>
void fields(Archive& a, RecordAnswer& r) {
  a(r.wanted, r.found, r.blob);
}
template <class Archive>
void fields(Archive& a, RankEnding& e) {
  a(e.wait_status, e.state, e.use, e.fences, e.aborted, e.abort_code, e.abort_text);
}
template <class Archive>
void fields(Archive& a, RankView& v) {
  a(v.rank, v.state, v.pid, v.attaches, v.fences, v.use, v.waits, v.heard_age, v.moved_age, v.answered,
    v.variables_answered, v.process, v.account, v.newest_wait, v.variables);
}

}  // namespace ashlar::mpiexec
