#include "framework/object/error_text.h"

#include <gtest/gtest.h>
#include <mpi.h>

#include <string>

#include "framework/base/failure.h"
#include "framework/object/comm.h"
#include "framework/object/errhandler.h"
#include "framework/object/errhandler_api.h"
#include "framework/object/error_record.h"
#include "framework/object/handle.h"
#include "framework/object/predefined.h"

namespace ashlar {
namespace {

std::string text_of(int code) {
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  EXPECT_TRUE(describe_error(code, text, &length));
  EXPECT_EQ(static_cast<int>(std::string(text).size()), length);
  return text;
}

TEST(ErrorText, EveryClassHasNameAndMeaning) {
  for (int c = MPI_SUCCESS; c <= MPI_ERR_ABI; ++c) {
    ASSERT_NE(error_class_meaning(c), nullptr) << "class " << c;
    EXPECT_EQ(std::string(error_class_name(c)).substr(0, 4), "MPI_");
    EXPECT_EQ(error_class_of(c), c);
  }
  EXPECT_EQ(error_class_of(MPI_ERR_ABI + 1), -1);
  EXPECT_EQ(error_class_of(MPI_T_ERR_INVALID_NAME), MPI_T_ERR_INVALID_NAME);
}

TEST(ErrorText, CarriesTheSentenceOfTheLastFailure) {
  remember_failure(MPI_ERR_TAG, "MPI_Send", "world", "argument tag is -5");
  EXPECT_EQ(text_of(MPI_ERR_TAG), "MPI_ERR_TAG: invalid tag (MPI_Send on 'world': argument tag is -5)");
}

TEST(ErrorText, UserClassesCodesAndTexts) {
  int mpi_class = 0, code = 0;
  ASSERT_TRUE(add_error_class(&mpi_class).ok());
  ASSERT_TRUE(add_error_code(mpi_class, &code).ok());
  EXPECT_GT(mpi_class, MPI_ERR_LASTCODE);
  EXPECT_EQ(error_class_of(code), mpi_class);
  EXPECT_GE(last_used_code(), code);
  EXPECT_EQ(text_of(code), "") << "a code without text has the empty one";
  ASSERT_TRUE(add_error_string(code, "the pump is off").ok());
  EXPECT_EQ(text_of(code), "the pump is off");
  EXPECT_EQ(add_error_string(MPI_ERR_TAG, "no").mpi_class(), MPI_ERR_ARG);
  EXPECT_EQ(remove_error_class(mpi_class).mpi_class(), MPI_ERR_OTHER) << "it still has a code";
  EXPECT_EQ(remove_error_code(code).mpi_class(), MPI_ERR_OTHER) << "it still has a text";
  ASSERT_TRUE(remove_error_string(code).ok());
  ASSERT_TRUE(remove_error_code(code).ok());
  ASSERT_TRUE(remove_error_class(mpi_class).ok());
  EXPECT_EQ(error_class_of(mpi_class), -1);
}

int seen_code;
MPI_Comm seen_comm;
void user_handler(MPI_Comm* comm, int* code, ...) {
  seen_code = *code;
  seen_comm = *comm;
}

TEST(Raise, GoesThroughTheCommunicatorsHandler) {
  register_predefined_objects();
  Comm comm;
  comm.name = "pumps";
  comm.errhandler = Ref<Errhandler>::share(errors_return());
  EXPECT_EQ(raise(Status::fail(MPI_ERR_RANK, "argument dest is 9"), "MPI_Send", &comm), MPI_ERR_RANK);
  EXPECT_NE(text_of(MPI_ERR_RANK).find("MPI_Send on 'pumps': argument dest is 9"), std::string::npos);

  Errhandler* handler = nullptr;
  ASSERT_TRUE(errhandler::comm_create(user_handler, &handler).ok());
  ASSERT_TRUE(errhandler::comm_set(comm, *handler).ok());
  ASSERT_TRUE(errhandler::free(&handler).ok());
  EXPECT_EQ(raise(Status::fail(MPI_ERR_COUNT, "argument count is -1"), "MPI_Send", &comm), MPI_ERR_COUNT);
  EXPECT_EQ(seen_code, MPI_ERR_COUNT);
  EXPECT_EQ(seen_comm, to_handle<MPI_Comm>(&comm));
  ASSERT_TRUE(errhandler::comm_call(comm, MPI_ERR_TYPE).ok());
  EXPECT_EQ(seen_code, MPI_ERR_TYPE);
  EXPECT_EQ(errhandler::comm_call(comm, 123456).mpi_class(), MPI_ERR_ARG);
}

TEST(Raise, BlamedCommunicatorServesOnceAndIsLetGo) {
  register_predefined_objects();
  error_hooks.release_comm = [](Comm* c) { c->references.fetch_sub(1); };
  Comm comm;
  comm.name = "blamed";
  comm.errhandler = Ref<Errhandler>::share(errors_return());
  blame(comm);
  EXPECT_EQ(comm.references.load(), 2);
  EXPECT_EQ(raise(Status::fail(MPI_ERR_TRUNCATE, "too long"), "MPI_Wait"), MPI_ERR_TRUNCATE);
  EXPECT_EQ(comm.references.load(), 1);
  EXPECT_NE(text_of(MPI_ERR_TRUNCATE).find("'blamed'"), std::string::npos);
}

TEST(RaiseDeathTest, FatalEndsTheProcessWithTheSentence) {
  Comm comm;
  comm.name = "pumps";
  comm.rank = 1;
  comm.size = 4;
  comm.errhandler = Ref<Errhandler>::share(errors_are_fatal());
  EXPECT_EXIT(raise(fail(MPI_ERR_OTHER, "component.failed",
                         {{"component", "transport.tcp"}, {"lower", "connection reset"}, {"peer", 2}, {"tag", 7}}),
                    "MPI_Recv", &comm),
              testing::ExitedWithCode(1),
              "MPI_Recv on communicator 'pumps' .rank 1 of 4. failed: MPI_ERR_OTHER: component transport.tcp failed: "
              "connection reset.\n  .peer rank 2, tag 7.\n");
}

TEST(ErrorRecord, HasTheFailuresFactsAsFieldsAndOneByOne) {
  Ref<Errhandler> handler;
  const ErrorSubject subject{.handler = &handler, .what = "communicator", .name = "pumps", .rank = 1, .size = 4};
  const Status status = add_facts(fail(MPI_ERR_OTHER, "component.silent", {{"component", "coll.acme"}, {"value", -3}}),
                                  {{"peer", 2}, {"peer_host", "node6"}, {"bytes_wanted", 4096}, {"epoch", 5}});
  const ErrorRecord record(status, "MPI_Bcast", &subject, /*ends_job=*/true);
  const ashlar_error_record& r = record.fields();
  EXPECT_STREQ(r.id, "component.silent");
  EXPECT_STREQ(r.call, "MPI_Bcast");
  EXPECT_STREQ(r.class_name, "MPI_ERR_OTHER");
  EXPECT_STREQ(r.text, "component coll.acme failed (-3) without a reason in words");
  EXPECT_EQ(r.because, nullptr);
  EXPECT_STREQ(r.try_next, "ashlar_info --check FILE shows whether a component keeps to its contract.");
  EXPECT_STREQ(r.object_name, "pumps");
  EXPECT_EQ(r.has, unsigned{ASHLAR_HAS_RANK | ASHLAR_HAS_PEER | ASHLAR_HAS_BYTES_WANTED});
  EXPECT_EQ(r.peer, 2);
  EXPECT_STREQ(r.peer_host, "node6");
  EXPECT_EQ(r.bytes_wanted, 4096u);
  EXPECT_STREQ(r.component, "coll.acme");
  EXPECT_STREQ(r.value, "-3");
  ASSERT_EQ(r.fact_count, 6u);
  EXPECT_STREQ(r.facts[5].name, "epoch");
  EXPECT_EQ(r.facts[5].text, nullptr);
  EXPECT_EQ(r.facts[5].number, 5);
  EXPECT_EQ(r.fatal, 1);
  EXPECT_STREQ(record.words(),
               "MPI_Bcast on communicator 'pumps' (rank 1 of 4) failed: MPI_ERR_OTHER: component coll.acme failed (-3) "
               "without a reason in words.\n  (peer rank 2 (node6), 4096 bytes wanted)\n"
               "  - ashlar_info --check FILE shows whether a component keeps to its contract.");
  EXPECT_STREQ(r.words, record.words());
}

}  // namespace
}  // namespace ashlar
