// The generated entry points over stand-ins for the kernel: what reaches a kernel function, and what a wrong argument
// gives. Objects, handles, error handlers and datatypes are the real ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include "framework/datatype/datatype.h"
#include "framework/object/comm.h"
#include "framework/object/error_text.h"
#include "framework/object/handle.h"
#include "framework/object/int_handles.h"
#include "framework/object/predefined.h"
#include "framework/progress/request.h"
#include "framework/runtime/api.h"
#include "tests/unit/bindings/fake.h"

namespace ashlar {

// What the kernel has beside the functions of the table.
namespace runtime {
bool in_sessions() { return false; }
void prepare() {
  register_predefined_objects();
  datatype::register_predefined();
}
double wtime() { return 17.5; }
double wtick() { return 1e-9; }
}  // namespace runtime

namespace {

using testing::ElementsAre;
using testing::HasSubstr;

long long address(const void* p) { return reinterpret_cast<long long>(p); }

int seen = 0;  // by the error handler below
MPI_Comm seen_on = MPI_COMM_NULL;
void note(MPI_Comm* comm, int* code, ...) {
  seen = *code;
  seen_on = *comm;
}

class EntryPoints : public testing::Test {
 protected:
  EntryPoints() {
    runtime::prepare();
    make(world, "MPI_COMM_WORLD", MPI_COMM_WORLD, 4);
    make(self, "MPI_COMM_SELF", MPI_COMM_SELF, 1);
    error_hooks.without_object = []() -> Object* { return resolve(MPI_COMM_SELF); };
    error_hooks.release_comm = [](Comm* comm) { comm->references.fetch_sub(1); };
    fake::calls = 0;
    fake::outcome = {};
    fake::act = nullptr;
  }
  ~EntryPoints() override {
    for (MPI_Comm handle : {MPI_COMM_WORLD, MPI_COMM_SELF})
      predefined_objects[reinterpret_cast<std::uintptr_t>(handle)] = nullptr;
  }
  static void make(Comm& comm, const char* name, MPI_Comm handle, int size) {
    comm.name = name;
    comm.rank = size > 1 ? 2 : 0;
    comm.size = comm.remote_size = size;
    comm.errhandler = Ref<Errhandler>::share(errors_return());
    comm.predefined = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(handle));
    predefined_objects[comm.predefined] = &comm;
  }
  /// The call failed with this class before it reached the kernel, and its sentence contains `text`.
  static void expect_refused(int code, int mpi_class, const char* text) {
    EXPECT_EQ(error_class_of(code), mpi_class);
    EXPECT_THAT(last_failure_text(code), HasSubstr(text));
    EXPECT_EQ(fake::calls, 0);
  }

  Comm world, self;
  int data[4] = {};
  MPI_Status status;
};

TEST_F(EntryPoints, SendPassesEveryArgumentInOrder) {
  EXPECT_EQ(MPI_Send(data, 3, MPI_INT, 1, 9, MPI_COMM_WORLD), MPI_SUCCESS);
  EXPECT_EQ(fake::last.name, "p2p::send");
  EXPECT_THAT(fake::last.arguments, ElementsAre(address(data), 3, address(resolve(MPI_INT)), 1, 9, address(&world)));
}

TEST_F(EntryPoints, BothFormsAndBothNamesReachOneFunction) {
  EXPECT_EQ(MPI_Send_c(data, 5'000'000'000, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD), MPI_SUCCESS);
  EXPECT_EQ(fake::last.name, "p2p::send");
  EXPECT_EQ(fake::last.arguments[1], 5'000'000'000);
  EXPECT_EQ(PMPI_Send(data, 1, MPI_INT, 0, 0, MPI_COMM_WORLD), MPI_SUCCESS);
  EXPECT_EQ(fake::calls, 2);
}

TEST_F(EntryPoints, WrongArgumentsAreRefusedWithTheirValue) {
  expect_refused(MPI_Send(data, 1, MPI_INT, 7, 0, MPI_COMM_WORLD), MPI_ERR_RANK,
                 "argument dest is 7, but communicator 'MPI_COMM_WORLD' has ranks 0..3. MPI_PROC_NULL is allowed too");
  expect_refused(MPI_Recv(data, 1, MPI_INT, -4, 0, MPI_COMM_WORLD, &status), MPI_ERR_RANK, "argument source is -4");
  expect_refused(MPI_Send(data, -1, MPI_INT, 0, 0, MPI_COMM_WORLD), MPI_ERR_COUNT, "argument count is -1");
  expect_refused(MPI_Send(data, 1, MPI_INT, 0, -2, MPI_COMM_WORLD), MPI_ERR_TAG, "MPI_ANY_TAG is for receiving only");
  expect_refused(MPI_Send(data, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD), MPI_ERR_TYPE, "argument datatype");
  expect_refused(MPI_Send(nullptr, 1, MPI_INT, 0, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER, "argument buf is null");
  expect_refused(MPI_Send(MPI_IN_PLACE, 1, MPI_INT, 0, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER, "MPI_IN_PLACE");
  expect_refused(MPI_Irecv(data, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, nullptr), MPI_ERR_ARG, "argument request");
  expect_refused(MPI_Comm_size(MPI_COMM_NULL, data), MPI_ERR_COMM, "argument comm is MPI_COMM_NULL");
  expect_refused(MPI_Comm_size(reinterpret_cast<MPI_Comm>(MPI_INT), data), MPI_ERR_COMM, "no predefined communicator");
  int not_an_object = 0;
  expect_refused(MPI_Comm_size(reinterpret_cast<MPI_Comm>(&not_an_object), data), MPI_ERR_COMM, "not the handle of");
}

TEST_F(EntryPoints, ReceivesTakeWildcards) {
  EXPECT_EQ(MPI_Recv(data, 4, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_SUCCESS);
  EXPECT_EQ(fake::last.arguments[3], MPI_ANY_SOURCE);
  EXPECT_EQ(fake::last.arguments[4], MPI_ANY_TAG);
}

TEST_F(EntryPoints, ANullBufferIsFineWhenNothingIsRead) {
  EXPECT_EQ(MPI_Send(nullptr, 0, MPI_INT, 0, 0, MPI_COMM_WORLD), MPI_SUCCESS);
  EXPECT_EQ(fake::calls, 1);
}

TEST_F(EntryPoints, DatatypesMustBeCommitted) {
  MPI_Datatype type;
  ASSERT_EQ(MPI_Type_contiguous(2, MPI_INT, &type), MPI_SUCCESS);
  expect_refused(MPI_Send(data, 1, type, 0, 0, MPI_COMM_WORLD), MPI_ERR_TYPE, "not committed");
  ASSERT_EQ(MPI_Type_commit(&type), MPI_SUCCESS);
  EXPECT_EQ(MPI_Send(data, 1, type, 0, 0, MPI_COMM_WORLD), MPI_SUCCESS);
  const MPI_Datatype freed = type;
  ASSERT_EQ(MPI_Type_free(&type), MPI_SUCCESS);
  EXPECT_EQ(type, MPI_DATATYPE_NULL);
  fake::calls = 0;
  expect_refused(MPI_Send(data, 1, freed, 0, 0, MPI_COMM_WORLD), MPI_ERR_TYPE, "freed already");
}

TEST_F(EntryPoints, RequestsAreStoredOnlyWhenTheyExist) {
  MPI_Request request = MPI_REQUEST_NULL;
  EXPECT_EQ(MPI_Isend(data, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request), MPI_SUCCESS);
  EXPECT_EQ(request, MPI_REQUEST_NULL);  // the stand-in made none
  EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  EXPECT_EQ(fake::last.name, "p2p::wait");
}

TEST_F(EntryPoints, AnArrayWithABadRequestNamesItsElement) {
  MPI_Request requests[2] = {MPI_REQUEST_NULL, reinterpret_cast<MPI_Request>(MPI_COMM_WORLD)};
  expect_refused(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE), MPI_ERR_REQUEST, "argument array_of_requests[1] is");
  expect_refused(MPI_Waitall(2, nullptr, MPI_STATUSES_IGNORE), MPI_ERR_ARG,
                 "argument array_of_requests is a null pointer");
  EXPECT_EQ(MPI_Waitall(0, nullptr, MPI_STATUSES_IGNORE), MPI_SUCCESS);
}

TEST_F(EntryPoints, AFailureOfTheKernelGoesThroughTheErrorHandler) {
  MPI_Errhandler handler;
  ASSERT_EQ(MPI_Comm_create_errhandler(&note, &handler), MPI_SUCCESS);
  ASSERT_EQ(MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler), MPI_SUCCESS);
  fake::outcome = Status::fail(MPI_ERR_TRUNCATE, "12 bytes for 4");
  EXPECT_EQ(error_class_of(MPI_Send(data, 1, MPI_INT, 0, 0, MPI_COMM_WORLD)), MPI_ERR_TRUNCATE);
  EXPECT_EQ(error_class_of(seen), MPI_ERR_TRUNCATE);
  EXPECT_EQ(seen_on, MPI_COMM_WORLD);
  MPI_Errhandler_free(&handler);
}

TEST_F(EntryPoints, BlameSendsACompletionFailureToItsCommunicator) {
  self.errhandler = Ref<Errhandler>::share(errors_are_fatal());  // where it would go without
  fake::act = [](const fake::Call&) { blame(*resolve(MPI_COMM_WORLD)); };
  fake::outcome = Status::fail(MPI_ERR_TRUNCATE, "12 bytes for 4");
  MPI_Request request = MPI_REQUEST_NULL;
  EXPECT_EQ(error_class_of(MPI_Wait(&request, &status)), MPI_ERR_TRUNCATE);
}

TEST_F(EntryPoints, WhatIsNotSignificantIsNotLookedAt) {
  const MPI_Comm comm = MPI_COMM_WORLD;  // this process is rank 2
  const int none[1] = {-1};
  // In place: the send side does not count.
  EXPECT_EQ(MPI_Allgather(MPI_IN_PLACE, -1, MPI_DATATYPE_NULL, data, 1, MPI_INT, comm), MPI_SUCCESS);
  EXPECT_EQ(fake::last.name, "coll::allgather");
  EXPECT_EQ(fake::last.arguments[0], 1);
  EXPECT_EQ(fake::last.arguments[2], address(resolve(MPI_BYTE)));
  // Not the root: the receive side does not count.
  EXPECT_EQ(MPI_Gatherv(data, 1, MPI_INT, nullptr, none, nullptr, MPI_DATATYPE_NULL, 0, comm), MPI_SUCCESS);
  EXPECT_EQ(MPI_Scatter(nullptr, -1, MPI_DATATYPE_NULL, data, 1, MPI_INT, 0, comm), MPI_SUCCESS);
  EXPECT_EQ(fake::calls, 3);
}

TEST_F(EntryPoints, WhatIsSignificantIs) {
  const MPI_Comm comm = MPI_COMM_WORLD;
  int counts[4] = {1, 1, -6, 1}, displs[4] = {};
  expect_refused(MPI_Gather(MPI_IN_PLACE, 1, MPI_INT, nullptr, 0, MPI_INT, 0, comm), MPI_ERR_BUFFER,
                 "sendbuf is MPI_IN_PLACE");
  expect_refused(MPI_Gather(data, 1, MPI_INT, data, -2, MPI_INT, 2, comm), MPI_ERR_COUNT, "argument recvcount is -2");
  expect_refused(MPI_Gatherv(data, 1, MPI_INT, data, counts, displs, MPI_INT, 2, comm), MPI_ERR_COUNT,
                 "recvcounts[2] is -6");
  expect_refused(MPI_Alltoallv(data, nullptr, displs, MPI_INT, data, counts, displs, MPI_INT, comm), MPI_ERR_ARG,
                 "argument sendcounts is a null pointer");
  expect_refused(MPI_Bcast(data, 1, MPI_INT, 4, comm), MPI_ERR_ROOT, "argument root is 4");
  expect_refused(MPI_Bcast(data, 1, MPI_INT, MPI_ROOT, comm), MPI_ERR_ROOT, "argument root is -4");
  expect_refused(MPI_Allreduce(data, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, comm), MPI_ERR_BUFFER,
                 "recvbuf is MPI_IN_PLACE");
  expect_refused(MPI_Allreduce(data, data, 1, MPI_INT, MPI_OP_NULL, comm), MPI_ERR_OP, "argument op is MPI_OP_NULL");
}

TEST_F(EntryPoints, InAnIntercommunicatorTheRootIsSpecial) {
  world.inter = true;
  EXPECT_EQ(MPI_Bcast(data, 1, MPI_INT, MPI_ROOT, MPI_COMM_WORLD), MPI_SUCCESS);
  EXPECT_EQ(MPI_Reduce(nullptr, data, 1, MPI_INT, MPI_SUM, MPI_ROOT, MPI_COMM_WORLD), MPI_SUCCESS);
  EXPECT_EQ(MPI_Bcast(nullptr, -1, MPI_DATATYPE_NULL, MPI_PROC_NULL, MPI_COMM_WORLD), MPI_SUCCESS);
  EXPECT_EQ(fake::calls, 3);
  fake::calls = 0;
  expect_refused(MPI_Gather(data, -1, MPI_INT, nullptr, 0, MPI_INT, 1, MPI_COMM_WORLD), MPI_ERR_COUNT,
                 "sendcount is -1");
}

TEST_F(EntryPoints, ResultsThatDoNotFitAreUndefined) {
  MPI_Datatype type;
  int size = 0;
  MPI_Count wide = 0;
  ASSERT_EQ(MPI_Type_contiguous(2'000'000'000, MPI_DOUBLE, &type), MPI_SUCCESS);
  EXPECT_EQ(MPI_Type_size(type, &size), MPI_SUCCESS);
  EXPECT_EQ(size, MPI_UNDEFINED);
  EXPECT_EQ(MPI_Type_size_c(type, &wide), MPI_SUCCESS);
  EXPECT_EQ(wide, 16'000'000'000);
  EXPECT_EQ(MPI_Type_size_x(type, &wide), MPI_SUCCESS);
  MPI_Type_free(&type);
}

TEST_F(EntryPoints, CallsOutsideInitAndFinalizeSaySo) {
  for (MPI_Comm handle : {MPI_COMM_WORLD, MPI_COMM_SELF})
    predefined_objects[reinterpret_cast<std::uintptr_t>(handle)] = nullptr;
  EXPECT_DEATH((void)MPI_Comm_size(MPI_COMM_WORLD, data), "before MPI_Init");
  MPI_Info info;
  EXPECT_EQ(MPI_Info_create(&info), MPI_SUCCESS);  // allowed at any time
  EXPECT_EQ(MPI_Info_free(&info), MPI_SUCCESS);
  EXPECT_EQ(info, MPI_INFO_NULL);
}

TEST_F(EntryPoints, ValuesAndIntegerHandles) {
  EXPECT_EQ(MPI_Wtime(), 17.5);
  EXPECT_EQ(MPI_Comm_toint(MPI_COMM_WORLD), 0x101);
  EXPECT_EQ(MPI_Comm_fromint(0x101), MPI_COMM_WORLD);
  MPI_Datatype type;
  ASSERT_EQ(MPI_Type_vector(2, 1, 3, MPI_INT, &type), MPI_SUCCESS);
  EXPECT_GE(MPI_Type_toint(type), 4096);
  EXPECT_EQ(MPI_Type_fromint(MPI_Type_toint(type)), type);
  // What MPI_Abi_get_info says of handles, for those who convert them on their own.
  const auto first = reinterpret_cast<std::uintptr_t>(MPI_Type_fromint(4096));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(type) - first,
            kHandleStep * static_cast<std::uintptr_t>(MPI_Type_toint(type) - 4096));
  MPI_Type_free(&type);
  MPI_Aint there;
  ASSERT_EQ(MPI_Get_address(&data[3], &there), MPI_SUCCESS);
  EXPECT_EQ(MPI_Aint_diff(there, MPI_Aint_add(reinterpret_cast<MPI_Aint>(data), 4)), 8);
}

}  // namespace
}  // namespace ashlar
