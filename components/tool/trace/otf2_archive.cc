// libashlar_otf2.so: the only part that needs the OTF2 library. tool/trace loads it when an archive is asked for.
#include <otf2/otf2.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "components/tool/common/reader.h"
#include "components/tool/trace/otf2.h"

namespace ashlar::tool_trace {
namespace {

using namespace recording;

constexpr std::uint64_t kEventChunk = 1 << 20, kDefinitionChunk = 4 << 20;
enum : OTF2_AttributeRef { kBytes, kPeer };

OTF2_FlushType before_flush(void*, OTF2_FileType, OTF2_LocationRef, void*, bool) { return OTF2_FLUSH; }
OTF2_TimeStamp after_flush(void*, OTF2_FileType, OTF2_LocationRef) { return 0; }

/// Errors are answers of calls here; the library's own words on standard error would say the same.
OTF2_ErrorCode quiet(void*, const char*, std::uint64_t, const char*, OTF2_ErrorCode code, const char*, va_list) {
  return code;
}

OTF2_LocationRef location(std::uint32_t rank, std::uint32_t thread) {
  return std::uint64_t{rank} << 16 | (thread & 0xffff);
}

std::uint64_t time_of(double ns) { return ns > 0 ? static_cast<std::uint64_t>(ns) : 0; }

OTF2_RegionRole role_of(const Procedure& p) {
  if (p.name == "MPI_Barrier" || p.name == "MPI_Ibarrier") return OTF2_REGION_ROLE_BARRIER;
  if (p.kind & ASHLAR_TOOL_COLLECTIVE) return OTF2_REGION_ROLE_COLL_OTHER;
  if (p.kind & (ASHLAR_TOOL_SENDS | ASHLAR_TOOL_RECEIVES)) return OTF2_REGION_ROLE_POINT2POINT;
  return OTF2_REGION_ROLE_FUNCTION;
}

class Writer {
 public:
  Writer(const Records& records, OTF2_Archive* archive) : records_(records), archive_(archive) {}

  bool write() {
    ok_ &= OTF2_Archive_OpenEvtFiles(archive_) == OTF2_SUCCESS;
    for (const RankRecord& rank : records_.ranks)
      if (rank.present) write_events(rank);
    ok_ &= OTF2_Archive_CloseEvtFiles(archive_) == OTF2_SUCCESS;
    ok_ &= OTF2_Archive_OpenDefFiles(archive_) == OTF2_SUCCESS;
    for (const auto& [where, events] : events_) {
      OTF2_DefWriter* const local = OTF2_Archive_GetDefWriter(archive_, where);
      ok_ &= local && OTF2_Archive_CloseDefWriter(archive_, local) == OTF2_SUCCESS;
    }
    ok_ &= OTF2_Archive_CloseDefFiles(archive_) == OTF2_SUCCESS;
    write_definitions();
    return ok_;
  }

 private:
  struct Thread {
    OTF2_EvtWriter* events = nullptr;
    std::uint64_t last = 0;            // times never go back
    std::vector<const TimedCall*> in;  // calls that are not over
  };

  void leave(Thread& thread, const TimedCall& call) {
    thread.last = std::max(thread.last, time_of(call.began + call.took));
    ok_ &= OTF2_EvtWriter_Leave(thread.events, nullptr, thread.last, call.procedure) == OTF2_SUCCESS;
  }

  void enter(Thread& thread, const TimedCall& call) {
    // A call within another one comes from a function of the program that MPI has called.
    while (!thread.in.empty() && thread.in.back()->began + thread.in.back()->took <= call.began) {
      leave(thread, *thread.in.back());
      thread.in.pop_back();
    }
    OTF2_AttributeList_AddUint64(attributes_, kBytes, call.bytes);
    if (call.peer >= 0) OTF2_AttributeList_AddInt32(attributes_, kPeer, call.peer);
    thread.last = std::max(thread.last, time_of(call.began));
    ok_ &= OTF2_EvtWriter_Enter(thread.events, attributes_, thread.last, call.procedure) == OTF2_SUCCESS;
    OTF2_AttributeList_RemoveAllAttributes(attributes_);
    thread.in.push_back(&call);
  }

  void write_events(const RankRecord& rank) {
    std::vector<TimedCall> calls = records_.calls_of(rank.rank);
    calls.insert(calls.end(), rank.in_progress.begin(), rank.in_progress.end());
    std::stable_sort(calls.begin(), calls.end(),
                     [](const TimedCall& a, const TimedCall& b) { return a.began < b.began; });
    std::map<std::uint32_t, Thread> threads;
    threads[0];  // each rank is a process with a thread at least
    for (const TimedCall& call : calls) threads[call.thread & 0xffff];
    for (auto& [number, thread] : threads)
      thread.events = OTF2_Archive_GetEvtWriter(archive_, location(rank.rank, number));
    for (const TimedCall& call : calls) enter(threads[call.thread & 0xffff], call);
    for (auto& [number, thread] : threads) {
      for (; !thread.in.empty(); thread.in.pop_back()) leave(thread, *thread.in.back());
      std::uint64_t count = 0;
      OTF2_EvtWriter_GetNumberOfEvents(thread.events, &count);
      events_[location(rank.rank, number)] = count;
      ok_ &= OTF2_Archive_CloseEvtWriter(archive_, thread.events) == OTF2_SUCCESS;
    }
  }

  OTF2_StringRef string(const std::string& text) {
    const auto [found, added] = strings_.try_emplace(text, static_cast<OTF2_StringRef>(strings_.size()));
    if (added) ok_ &= OTF2_GlobalDefWriter_WriteString(definitions_, found->second, text.c_str()) == OTF2_SUCCESS;
    return found->second;
  }

  void write_definitions() {
    definitions_ = OTF2_Archive_GetGlobalDefWriter(archive_);
    if (!definitions_) {
      ok_ = false;
      return;
    }
    const OTF2_StringRef none = string("");
    OTF2_GlobalDefWriter_WriteClockProperties(definitions_, 1'000'000'000, 0, time_of(records_.seconds() * 1e9) + 1,
                                              OTF2_UNDEFINED_TIMESTAMP);
    OTF2_GlobalDefWriter_WriteAttribute(definitions_, kBytes, string("bytes"), string("of data that the call moves"),
                                        OTF2_TYPE_UINT64);
    OTF2_GlobalDefWriter_WriteAttribute(definitions_, kPeer, string("peer"),
                                        string("rank of the other process in the job"), OTF2_TYPE_INT32);
    for (std::uint32_t p = 0; p < records_.procedures.size(); ++p) {
      const OTF2_StringRef name = string(records_.procedures[p].name);
      OTF2_GlobalDefWriter_WriteRegion(definitions_, p, name, name, none, role_of(records_.procedures[p]),
                                       OTF2_PARADIGM_MPI, OTF2_REGION_FLAG_NONE, string("MPI"), 0, 0);
    }
    std::map<std::string, OTF2_SystemTreeNodeRef> hosts;
    for (const RankRecord& rank : records_.ranks) {
      const auto [host, added] = hosts.try_emplace(rank.host, static_cast<OTF2_SystemTreeNodeRef>(hosts.size()));
      if (added)
        OTF2_GlobalDefWriter_WriteSystemTreeNode(definitions_, host->second, string(rank.host), string("node"),
                                                 OTF2_UNDEFINED_SYSTEM_TREE_NODE);
      if (rank.present)
        OTF2_GlobalDefWriter_WriteLocationGroup(definitions_, rank.rank, string("rank " + std::to_string(rank.rank)),
                                                OTF2_LOCATION_GROUP_TYPE_PROCESS, host->second,
                                                OTF2_UNDEFINED_LOCATION_GROUP);
    }
    for (const auto& [where, events] : events_)
      OTF2_GlobalDefWriter_WriteLocation(definitions_, where, string("thread " + std::to_string(where & 0xffff)),
                                         OTF2_LOCATION_TYPE_CPU_THREAD, events,
                                         static_cast<std::uint32_t>(where >> 16));
    ok_ &= OTF2_Archive_CloseGlobalDefWriter(archive_, definitions_) == OTF2_SUCCESS;
  }

  const Records& records_;
  OTF2_Archive* const archive_;
  OTF2_AttributeList* const attributes_ = OTF2_AttributeList_New();
  OTF2_GlobalDefWriter* definitions_ = nullptr;
  std::map<OTF2_LocationRef, std::uint64_t> events_;  // how many
  std::map<std::string, OTF2_StringRef> strings_;
  bool ok_ = true;
};

}  // namespace
}  // namespace ashlar::tool_trace

extern "C" __attribute__((visibility("default"))) const char* ashlar_otf2_archive_v1(
    const ashlar::recording::Records* records, const char* folder) {
  OTF2_Error_RegisterCallback(ashlar::tool_trace::quiet, nullptr);
  OTF2_Archive* const archive =
      OTF2_Archive_Open(folder, "traces", OTF2_FILEMODE_WRITE, ashlar::tool_trace::kEventChunk,
                        ashlar::tool_trace::kDefinitionChunk, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
  if (!archive) return "the OTF2 library cannot make an archive there";
  static const OTF2_FlushCallbacks kFlush = {.otf2_pre_flush = ashlar::tool_trace::before_flush,
                                             .otf2_post_flush = ashlar::tool_trace::after_flush};
  OTF2_Archive_SetFlushCallbacks(archive, &kFlush, nullptr);
  OTF2_Archive_SetSerialCollectiveCallbacks(archive);
  const bool written = ashlar::tool_trace::Writer(*records, archive).write();
  const bool closed = OTF2_Archive_Close(archive) == OTF2_SUCCESS;
  return written && closed ? nullptr : "the OTF2 library could not write all of it";
}
