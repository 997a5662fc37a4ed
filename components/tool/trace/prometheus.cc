#include <algorithm>
#include <string>

#include "components/tool/common/text.h"
#include "components/tool/trace/document.h"
#include "framework/base/printable.h"

namespace ashlar::tool_trace {
namespace {

using namespace recording;

std::string label(const std::string& text) {
  std::string out;
  for (const char c : printable(text)) {
    if (c == '\\' || c == '"') out += '\\';
    out += c;
  }
  return out;
}

class Metrics {
 public:
  explicit Metrics(std::string job) : job_("job_id=\"" + label(job) + "\"") {}
  void family(const char* name, const char* type, const char* help) {
    name_ = std::string("ashlar_") + name;
    out_ += "# HELP " + name_ + " " + help + "\n# TYPE " + name_ + " " + type + "\n";
  }
  void sample(const std::string& labels, double value) { line(labels, text("%.9g", value)); }
  void sample(const std::string& labels, std::uint64_t value) { line(labels, std::to_string(value)); }
  std::string take() { return std::move(out_); }

 private:
  void line(const std::string& labels, const std::string& value) {
    out_ += name_ + "{" + job_ + (labels.empty() ? "" : "," + labels) + "} " + value + "\n";
  }
  std::string job_, name_, out_;
};

std::string rank_label(const RankRecord& rank) {
  return "rank=\"" + std::to_string(rank.rank) + "\",host=\"" + label(rank.host) + "\"";
}

template <class Value>
void of_calls(Metrics& m, const Records& records, const char* labels, Value value) {
  for (const RankRecord& rank : records.ranks) {
    if (!rank.present) continue;
    for (std::size_t p = 0; p < rank.totals.size(); ++p) {
      CallTotal sum;
      for (const CallTotal& total : rank.totals[p]) sum.add(total);
      if (sum.calls > 0)
        m.sample(rank_label(rank) + ",call=\"" + label(records.procedures[p].name) + "\"" + labels, value(sum));
    }
  }
}

}  // namespace

std::string prometheus(const Records& records, const Figures& figures) {
  Metrics m(records.job().job_id ? records.job().job_id : "");
  m.family("job_seconds", "gauge", "Time since the start of the job; of one that is over, to its end.");
  m.sample("", records.seconds());
  const bool running = std::any_of(records.ranks.begin(), records.ranks.end(), [](const auto& r) { return r.running; });
  m.family("job_running", "gauge", "1: the job runs, and the figures are those of this moment.");
  m.sample("", std::uint64_t{running});
  if (!running) {
    m.family("job_exit_status", "gauge", "Exit status of mpiexec.");
    m.sample("", static_cast<std::uint64_t>(static_cast<std::uint32_t>(records.job().exit_status)));
  }
  m.family("job_load_balance", "gauge", "Mean computing time of the ranks over the longest one.");
  m.sample("", figures.load_balance);
  m.family("rank_mpi_seconds_total", "counter", "Time of a rank in MPI calls.");
  for (const RankFigures& r : figures.ranks) m.sample(rank_label(records.ranks[r.rank]), r.in_mpi);
  m.family("rank_computing_seconds_total", "counter", "Time of a rank between MPI calls.");
  for (const RankFigures& r : figures.ranks) m.sample(rank_label(records.ranks[r.rank]), r.computing);
  m.family("rank_finalized", "gauge", "1: the rank finalised MPI.");
  for (const RankFigures& r : figures.ranks)
    m.sample(rank_label(records.ranks[r.rank]), std::uint64_t{records.ranks[r.rank].finalized});
  m.family("rank_memory_peak_bytes", "gauge", "Most memory of the rank at one time.");
  for (const RankFigures& r : figures.ranks)
    if (records.ranks[r.rank].memory_peak > 0)
      m.sample(rank_label(records.ranks[r.rank]), records.ranks[r.rank].memory_peak);
  m.family("calls_total", "counter", "MPI calls.");
  of_calls(m, records, "", [](const CallTotal& t) { return t.calls; });
  m.family("call_seconds_total", "counter", "Time in MPI calls.");
  of_calls(m, records, "", [](const CallTotal& t) { return t.seconds; });
  m.family("call_bytes_total", "counter", "Bytes that calls gave (out), and took or had room for (in).");
  of_calls(m, records, ",direction=\"out\"", [](const CallTotal& t) { return t.bytes_out; });
  of_calls(m, records, ",direction=\"in\"", [](const CallTotal& t) { return t.bytes_in; });
  m.family("messages_total", "counter", "Point-to-point messages of the program.");
  for (const RankFigures& r : figures.ranks) m.sample(rank_label(records.ranks[r.rank]), r.messages);
  m.family("message_bytes_total", "counter", "Bytes in these messages.");
  for (const RankFigures& r : figures.ranks) m.sample(rank_label(records.ranks[r.rank]), r.bytes);
  m.family("transport_bytes_total", "counter", "Bytes of messages by the transport that carried them.");
  for (const Transport& t : figures.transports) m.sample("transport=\"" + label(t.name) + "\"", t.bytes);
  m.family("rendezvous_messages_total", "counter",
           "Messages by rendezvous that are complete, by how the data travelled.");
  for (const Protocol& p : figures.protocols) m.sample("how=\"" + label(p.name) + "\"", p.messages);
  m.family("rendezvous_bytes_total", "counter", "Bytes in these messages.");
  for (const Protocol& p : figures.protocols) m.sample("how=\"" + label(p.name) + "\"", p.bytes);
  m.family("variable", "gauge", "Performance variables, summed over the ranks.");
  for (const auto& [name, value] : figures.variables) m.sample("name=\"" + label(name) + "\"", value);
  return m.take();
}

}  // namespace ashlar::tool_trace
