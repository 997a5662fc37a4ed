#include "framework/io/check.h"

#include <array>
#include <string>

#include "framework/base/failure.h"
#include "framework/base/hash.h"
#include "framework/datatype/layout.h"
#include "framework/io/agree.h"
#include "framework/io/collective.h"
#include "framework/io/engine.h"
#include "framework/object/info.h"

namespace ashlar::io {
namespace {

constexpr const char* kSameKeys[] = {
    "collective_buffering", "cb_block_size",   "cb_buffer_size", "cb_nodes",     "chunked",
    "chunked_item",         "chunked_size",    "file_perm",      "io_node_list", "nb_proc",
    "num_io_nodes",         "striping_factor", "striping_unit"};

bool on() { return Engine::current().checks; }

/// Every piece of the view, by the compiled form of its filetype.
std::uint64_t hash_of(const View& view) {
  Hash hash;
  hash.add(static_cast<std::uint64_t>(view.disp));
  hash.add(view.etype->signature().hash);
  hash.add(view.filetype->signature().hash);
  hash.add(static_cast<std::uint64_t>(view.placed->extent()));
  hash.add(static_cast<std::uint64_t>(view.placed->origin()));
  if (view.placed->size() > 0) hash.add(view.placed->layout().hash);
  return hash.value();
}

}  // namespace

// An access of no data, whose processes compare what they call before they do anything.
Status check_same_call(OpenFile& file, const char* call) {
  if (!on() || file.comm->size == 1) return {};
  const Transfer nothing = {
      .file = file, .writes = false, .at = 0, .buffer = DataView::of(nullptr, 0, datatype::predefined(MPI_BYTE))};
  MPI_Count moved = 0;
  return run_together(call, nothing, {}, &moved);
}

Status check_same_hints(Comm& comm, const char* path, const Info* info, Status own) {
  if (!on()) return own;
  std::array<std::string, std::size(kSameKeys)> names;
  std::array<Same, std::size(kSameKeys)> same;
  for (std::size_t i = 0; i < same.size(); ++i) {
    const std::string* const value = info != nullptr ? info->find(kSameKeys[i]) : nullptr;
    names[i] = std::string("info (key ") + kSameKeys[i] + ")";
    same[i] = same_text(names[i].c_str(), value != nullptr ? value->c_str() : "");
  }
  return agree(comm, path, own, same);
}

Status compare_views(OpenFile& file) {
  if (!on()) return {};
  const Same same[] = {{.argument = "view", .value = static_cast<std::int64_t>(hash_of(file.view) >> 1)}};
  const Status compared = agree(file, {}, same);
  file.views_differ = compared.mpi_class() == MPI_ERR_NOT_SAME;
  return file.views_differ ? Status() : compared;
}

Status check_shared_view(const OpenFile& file) {
  if (!file.views_differ) return {};
  return fail(MPI_ERR_NOT_SAME, "io.views_differ", {{"path", file.path}});
}

Status check_signature(const OpenFile& file, const DataView& buffer, MPI_Count etypes) {
  if (!on()) return {};
  const Datatype& etype = *file.view.etype;
  if (etype.signature().repeated(etypes) == buffer.type->signature().repeated(buffer.count)) return {};
  const datatype::Signature byte = datatype::predefined(MPI_BYTE).signature();
  if (byte.repeated(etype.signature().elements) == etype.signature()) return {};
  return fail(
      MPI_ERR_TYPE, "io.signature",
      {{"count", buffer.count}, {"type", buffer.type->described()}, {"etype", etype.described()}, {"path", file.path}});
}

Status check_requests(const OpenFile& file) {
  const std::uint64_t left = file.requests != nullptr ? file.requests->load(std::memory_order_relaxed) : 0;
  if (left == 0) return {};
  return fail(MPI_ERR_IO, "io.requests_left", {{"count", left}, {"path", file.path}});
}

}  // namespace ashlar::io
