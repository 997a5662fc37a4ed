#include "framework/object/error_text.h"

#include <gtest/gtest.h>
#include <mpi.h>

#include <string>

#include "framework/object/comm.h"
#include "framework/object/errhandler.h"
#include "framework/object/errhandler_api.h"
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
  comm.errhandler = Ref<Errhandler>::share(errors_are_fatal());
  EXPECT_EXIT(raise(Status::fail(MPI_ERR_TAG, "argument tag is -5"), "MPI_Recv", &comm), testing::ExitedWithCode(1),
              "MPI_Recv on communicator 'pumps' failed: MPI_ERR_TAG .invalid tag.: argument tag is -5");
}

}  // namespace
}  // namespace ashlar
