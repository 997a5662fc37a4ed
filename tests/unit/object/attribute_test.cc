#include "framework/object/attribute_api.h"

#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdint>
#include <thread>
#include <vector>

#include "framework/object/comm.h"
#include "framework/object/handle.h"

namespace ashlar {
namespace {

std::vector<std::intptr_t> deleted;
int delete_result = MPI_SUCCESS;

int on_delete(MPI_Comm, int, void* value, void*) {
  deleted.push_back(reinterpret_cast<std::intptr_t>(value));
  return delete_result;
}
int on_copy(MPI_Comm, int, void* extra, void* in, void* out, int* flag) {
  *static_cast<void**>(out) = static_cast<char*>(in) + 1;
  *flag = extra == nullptr;
  return MPI_SUCCESS;
}
int copy_fails(MPI_Comm, int, void*, void*, void*, int*) { return MPI_ERR_OTHER; }

void* value(std::intptr_t v) { return reinterpret_cast<void*>(v); }

class AttributeTest : public testing::Test {
 protected:
  void SetUp() override {
    deleted.clear();
    delete_result = MPI_SUCCESS;
  }
  int key(MPI_Comm_copy_attr_function* copy, void* extra = nullptr) {
    int made = 0;
    EXPECT_TRUE(attribute::comm_create_keyval(copy, on_delete, &made, extra).ok());
    made_.push_back(made);
    return made;
  }
  void TearDown() override {
    // Those that a test has freed are refused.
    for (int keyval : made_) static_cast<void>(attribute::comm_free_keyval(&keyval));
  }
  std::intptr_t get(Comm& comm, int keyval) {
    void* found = nullptr;
    int flag = 0;
    EXPECT_TRUE(attribute::comm_get(comm, keyval, static_cast<void*>(&found), &flag).ok());
    return flag ? reinterpret_cast<std::intptr_t>(found) : -1;
  }
  Comm a, b;

 private:
  std::vector<int> made_;
};

TEST_F(AttributeTest, SetGetReplaceDelete) {
  int k = key(MPI_COMM_NULL_COPY_FN);
  EXPECT_EQ(get(a, k), -1);
  ASSERT_TRUE(attribute::comm_set(a, k, value(10)).ok());
  EXPECT_EQ(get(a, k), 10);
  ASSERT_TRUE(attribute::comm_set(a, k, value(20)).ok());
  EXPECT_EQ(deleted, std::vector<std::intptr_t>{10}) << "the old value is deleted when a new one is set";
  ASSERT_TRUE(attribute::comm_delete(a, k).ok());
  EXPECT_EQ(deleted.back(), 20);
  EXPECT_EQ(attribute::comm_delete(a, k).mpi_class(), MPI_ERR_KEYVAL);
  ASSERT_TRUE(attribute::comm_free_keyval(&k).ok());
  EXPECT_EQ(k, MPI_KEYVAL_INVALID);
}

TEST_F(AttributeTest, CopiedByDupAsTheirFunctionsSay) {
  int none = key(MPI_COMM_NULL_COPY_FN), same = key(MPI_COMM_DUP_FN), plus = key(on_copy),
      refused = key(on_copy, &none);
  for (int k : {none, same, plus, refused}) ASSERT_TRUE(attribute::comm_set(a, k, value(100)).ok());
  ASSERT_TRUE(attribute::copy_all(a, b).ok());
  EXPECT_EQ(get(b, none), -1);
  EXPECT_EQ(get(b, same), 100);
  EXPECT_EQ(get(b, plus), 101);
  EXPECT_EQ(get(b, refused), -1);
  ASSERT_TRUE(attribute::delete_all(a).ok());
  ASSERT_TRUE(attribute::delete_all(b).ok());
  EXPECT_EQ(deleted.size(), 6u);
}

TEST_F(AttributeTest, DeletedInReverseOrderOfSetting) {
  int k[3];
  for (int i = 0; i < 3; ++i) {
    k[i] = key(MPI_COMM_NULL_COPY_FN);
    ASSERT_TRUE(attribute::comm_set(a, k[i], value(i)).ok());
  }
  ASSERT_TRUE(attribute::delete_all(a).ok());
  EXPECT_EQ(deleted, (std::vector<std::intptr_t>{2, 1, 0}));
}

TEST_F(AttributeTest, AFreedKeyLivesWhileAttributesUseIt) {
  int k = key(MPI_COMM_DUP_FN);
  const int number = k;
  ASSERT_TRUE(attribute::comm_set(a, k, value(5)).ok());
  ASSERT_TRUE(attribute::comm_free_keyval(&k).ok());
  EXPECT_EQ(get(a, number), 5);
  ASSERT_TRUE(attribute::delete_all(a).ok());
  int again = number;
  EXPECT_EQ(attribute::comm_free_keyval(&again).mpi_class(), MPI_ERR_KEYVAL);
}

TEST_F(AttributeTest, FailingCallbacksFailTheCall) {
  int k = key(copy_fails);
  ASSERT_TRUE(attribute::comm_set(a, k, value(1)).ok());
  EXPECT_EQ(attribute::copy_all(a, b).mpi_class(), MPI_ERR_OTHER);
  delete_result = MPI_ERR_ARG;
  EXPECT_EQ(attribute::comm_delete(a, k).mpi_class(), MPI_ERR_ARG);
  EXPECT_EQ(get(a, k), 1) << "not removed when its delete function failed";
  delete_result = MPI_SUCCESS;
  ASSERT_TRUE(attribute::delete_all(a).ok());
}

TEST_F(AttributeTest, PredefinedKeysAreThereAndFixed) {
  attribute::predefined.tag_ub = 12345;
  int *tag_ub = nullptr, flag = 0;
  ASSERT_TRUE(attribute::comm_get(a, MPI_TAG_UB, static_cast<void*>(&tag_ub), &flag).ok());
  EXPECT_TRUE(flag);
  EXPECT_EQ(*tag_ub, 12345);
  EXPECT_EQ(attribute::comm_set(a, MPI_TAG_UB, value(1)).mpi_class(), MPI_ERR_KEYVAL);
  EXPECT_EQ(attribute::comm_delete(a, MPI_TAG_UB).mpi_class(), MPI_ERR_KEYVAL);
  EXPECT_EQ(attribute::comm_get(a, 999999, static_cast<void*>(&tag_ub), &flag).mpi_class(), MPI_ERR_KEYVAL);
}

// Callbacks that wait for another thread which calls attribute functions: no lock may be held around them.
Comm* elsewhere = nullptr;
int other_key = 0;

void use_another_set() {
  std::thread([] {
    EXPECT_TRUE(attribute::comm_set(*elsewhere, other_key, value(1)).ok());
    void* found = nullptr;
    int flag = 0, made = 0;
    EXPECT_TRUE(attribute::comm_get(*elsewhere, other_key, static_cast<void*>(&found), &flag).ok());
    EXPECT_TRUE(attribute::comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &made, nullptr).ok());
    EXPECT_TRUE(attribute::comm_free_keyval(&made).ok());
  }).join();
}
int delete_with_a_thread(MPI_Comm, int, void* v, void*) {
  deleted.push_back(reinterpret_cast<std::intptr_t>(v));
  use_another_set();
  return MPI_SUCCESS;
}
int copy_with_a_thread(MPI_Comm, int, void*, void* in, void* out, int* flag) {
  use_another_set();
  *static_cast<void**>(out) = in;
  *flag = 1;
  return MPI_SUCCESS;
}

TEST_F(AttributeTest, CallbacksMayWaitForThreadsThatUseAttributes) {
  Comm third;
  elsewhere = &third;
  other_key = key(MPI_COMM_NULL_COPY_FN);
  int k = 0;
  ASSERT_TRUE(attribute::comm_create_keyval(copy_with_a_thread, delete_with_a_thread, &k, nullptr).ok());
  ASSERT_TRUE(attribute::comm_set(a, k, value(5)).ok());
  ASSERT_TRUE(attribute::comm_set(a, k, value(6)).ok());
  ASSERT_TRUE(attribute::copy_all(a, b).ok());
  EXPECT_EQ(get(b, k), 6);
  ASSERT_TRUE(attribute::comm_delete(b, k).ok());
  ASSERT_TRUE(attribute::delete_all(a).ok());
  // `third`'s own values are deleted too, each when the next one replaced it.
  std::erase(deleted, 1);
  EXPECT_EQ(deleted, (std::vector<std::intptr_t>{5, 6, 6}));
  ASSERT_TRUE(attribute::comm_free_keyval(&k).ok());
  ASSERT_TRUE(attribute::delete_all(third).ok());
}

// A delete function that deletes, reads and sets the attribute in question.
Comm* own = nullptr;
int own_key = 0, own_calls = 0;
int delete_again(MPI_Comm, int, void* v, void*) {
  ++own_calls;
  void* found = nullptr;
  int flag = 0;
  EXPECT_TRUE(attribute::comm_get(*own, own_key, static_cast<void*>(&found), &flag).ok());
  EXPECT_TRUE(flag == 1 && found == v) << "it is there until it has been deleted";
  EXPECT_EQ(attribute::comm_delete(*own, own_key).mpi_class(), MPI_ERR_KEYVAL);
  return MPI_SUCCESS;
}

TEST_F(AttributeTest, ADeleteFunctionMayNotDeleteItsOwnAttributeAgain) {
  own = &a;
  own_calls = 0;
  ASSERT_TRUE(attribute::comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_again, &own_key, nullptr).ok());
  ASSERT_TRUE(attribute::comm_set(a, own_key, value(3)).ok());
  ASSERT_TRUE(attribute::comm_set(a, own_key, value(4)).ok());
  EXPECT_EQ(own_calls, 1);
  EXPECT_EQ(get(a, own_key), 4);
  ASSERT_TRUE(attribute::comm_delete(a, own_key).ok());
  EXPECT_EQ(own_calls, 2);
  EXPECT_EQ(get(a, own_key), -1);
  ASSERT_TRUE(attribute::comm_free_keyval(&own_key).ok());
}

TEST_F(AttributeTest, ThreadsOnOneObject) {
  constexpr int kThreads = 4, kRounds = 300;
  std::vector<int> keys;
  for (int t = 0; t < kThreads; ++t) {
    int k = 0;
    ASSERT_TRUE(attribute::comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &k, nullptr).ok());
    keys.push_back(k);
  }
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (int round = 0; round < kRounds; ++round) {
        EXPECT_TRUE(attribute::comm_set(a, keys[static_cast<std::size_t>(t)], value(round)).ok());
        EXPECT_EQ(get(a, keys[static_cast<std::size_t>(t)]), round);
        if (round % 3 == 0) {
          EXPECT_TRUE(attribute::comm_delete(a, keys[static_cast<std::size_t>(t)]).ok());
        }
      }
    });
  for (std::thread& thread : threads) thread.join();
  ASSERT_TRUE(attribute::delete_all(a).ok());
  for (int& k : keys) EXPECT_TRUE(attribute::comm_free_keyval(&k).ok());
}

}  // namespace
}  // namespace ashlar
