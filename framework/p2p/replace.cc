#include <cstdlib>
#include <memory>

#include "framework/base/failure.h"
#include "framework/datatype/data_view.h"
#include "framework/p2p/api.h"
#include "framework/p2p/signature_check.h"

namespace ashlar::p2p {

Status sendrecv_replace(void* buf, MPI_Count count, Datatype& type, int dest, int sendtag, int source, int recvtag,
                        Comm& comm, MPI_Status* status) {
  struct Free {
    void operator()(void* p) const { std::free(p); }
  };
  const DataView data = DataView::of(buf, count, type);
  const auto bytes = static_cast<std::size_t>(data.bytes());
  alignas(16) std::byte small[512];
  std::unique_ptr<void, Free> large;
  void* outgoing = small;
  if (bytes > sizeof small) {
    large.reset(std::malloc(bytes));
    outgoing = large.get();
    if (outgoing == nullptr)
      return fail(MPI_ERR_NO_MEM, "memory.none",
                  {{"what", "a copy of what MPI_Sendrecv_replace sends"}, {"bytes_wanted", bytes}});
  }
  if (dest != MPI_PROC_NULL) datatype::pack(data, 0, outgoing, bytes);
  // Packed bytes are what travels: the receiver sees no difference.
  DataView packed;
  Ref<Datatype> stands;
  ASHLAR_TRY(stand_in(comm, outgoing, data, &stands, &packed));
  return sendrecv(outgoing, packed.count, *packed.type, dest, sendtag, buf, count, type, source, recvtag, comm, status);
}

}  // namespace ashlar::p2p
