// The calls on windows and files that need neither memory nor data, through the entry points, on objects that the test
// made: nothing of the kernel's makes any yet.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <string>
#include <vector>

#include "framework/base/slab.h"
#include "framework/object/attribute_api.h"
#include "framework/object/comm.h"
#include "framework/object/error_text.h"
#include "framework/object/file.h"
#include "framework/object/handle.h"
#include "framework/object/window.h"
#include "framework/runtime/api.h"

namespace ashlar {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// As those who make windows and files will have them: with members of their own.
struct SharedWindow : Window {
  int segments = 3;
};
struct PlainFile : File {
  int descriptor = -1;
};

std::vector<std::string> calls;

int copy_value(MPI_Win, int, void*, void* in, void* out, int* flag) {
  *static_cast<void**>(out) = in;
  *flag = 1;
  return MPI_SUCCESS;
}
MPI_Win deleted_on;
int delete_value(MPI_Win win, int, void* value, void* extra) {
  deleted_on = win;
  calls.push_back(std::string(static_cast<const char*>(extra)) + static_cast<const char*>(value));
  return MPI_SUCCESS;
}
int delete_result;
int delete_as_told(MPI_Win, int, void*, void*) { return delete_result; }

int seen_code;
MPI_Win seen_win;
MPI_File seen_file;
void on_win(MPI_Win* win, int* code, ...) {
  seen_win = *win;
  seen_code = *code;
}
void on_file(MPI_File* file, int* code, ...) {
  seen_file = *file;
  seen_code = *code;
}
void on_comm(MPI_Comm*, int*, ...) {}

class WindowsAndFiles : public testing::Test {
 protected:
  WindowsAndFiles() {
    runtime::prepare();
    self_.name = "MPI_COMM_SELF";
    self_.errhandler = Ref<Errhandler>::share(errors_return());
    self_.predefined = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(MPI_COMM_SELF));
    predefined_objects[self_.predefined] = &self_;
    error_hooks.without_object = []() -> Object* { return resolve(MPI_COMM_SELF); };
    window_ = windows_.take();
    window_->name.give("halo");
    window_->errhandler = Ref<Errhandler>::share(errors_return());
    win_ = to_handle<MPI_Win>(window_);
    file_ = files_.take();
    file_->name = "out.dat";
    fh_ = to_handle<MPI_File>(file_);
    calls.clear();
    seen_code = 0;
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
  }
  ~WindowsAndFiles() override {
    EXPECT_TRUE(attribute::delete_all(*window_).ok());
    windows_.put(window_);
    files_.put(file_);
    predefined_objects[self_.predefined] = nullptr;
  }
  static void expect_refused(int code, int mpi_class, const char* text) {
    EXPECT_EQ(error_class_of(code), mpi_class);
    EXPECT_THAT(last_failure_text(code), HasSubstr(text));
  }
  static int make_key(const char* name) {
    int key = MPI_KEYVAL_INVALID;
    EXPECT_EQ(MPI_Win_create_keyval(copy_value, delete_value, &key, const_cast<char*>(name)), MPI_SUCCESS);
    return key;
  }

  Comm self_;
  Slab<SharedWindow> windows_;
  Slab<PlainFile> files_;
  SharedWindow* window_;
  PlainFile* file_;
  MPI_Win win_;
  MPI_File fh_;
};

TEST_F(WindowsAndFiles, AttributesAreSetReadReplacedAndDeleted) {
  int key = make_key("k"), there = -1;
  const char* value = nullptr;
  char a[] = "a", b[] = "b";
  ASSERT_EQ(MPI_Win_get_attr(win_, key, &value, &there), MPI_SUCCESS);
  EXPECT_FALSE(there);
  ASSERT_EQ(MPI_Win_set_attr(win_, key, a), MPI_SUCCESS);
  ASSERT_EQ(MPI_Win_get_attr(win_, key, &value, &there), MPI_SUCCESS);
  EXPECT_TRUE(there && value == a);
  ASSERT_EQ(MPI_Win_set_attr(win_, key, b), MPI_SUCCESS);
  EXPECT_THAT(calls, ElementsAre("ka"));
  EXPECT_EQ(deleted_on, win_);
  ASSERT_EQ(MPI_Win_delete_attr(win_, key), MPI_SUCCESS);
  EXPECT_THAT(calls, ElementsAre("ka", "kb"));
  expect_refused(MPI_Win_delete_attr(win_, key), MPI_ERR_KEYVAL, "under which 'halo' has no attribute");
  ASSERT_EQ(MPI_Win_free_keyval(&key), MPI_SUCCESS);
  EXPECT_EQ(key, MPI_KEYVAL_INVALID);
}

TEST_F(WindowsAndFiles, WhatIsLeftIsDeletedWithTheWindowTheLastOneFirst) {
  char value[] = "!";
  int keys[3] = {make_key("first"), make_key("second"), make_key("third")};
  for (int& key : keys) {
    ASSERT_EQ(MPI_Win_set_attr(win_, key, value), MPI_SUCCESS);
    ASSERT_EQ(MPI_Win_free_keyval(&key), MPI_SUCCESS);
  }
  ASSERT_TRUE(attribute::delete_all(*window_).ok());
  EXPECT_THAT(calls, ElementsAre("third!", "second!", "first!"));
}

TEST_F(WindowsAndFiles, ADeleteFunctionThatFailsFailsTheCall) {
  int key = 0, there = 0;
  void* value = nullptr;
  ASSERT_EQ(MPI_Win_create_keyval(MPI_WIN_DUP_FN, delete_as_told, &key, nullptr), MPI_SUCCESS);
  ASSERT_EQ(MPI_Win_set_attr(win_, key, &there), MPI_SUCCESS);
  delete_result = MPI_ERR_OTHER;
  EXPECT_EQ(error_class_of(MPI_Win_delete_attr(win_, key)), MPI_ERR_OTHER);
  ASSERT_EQ(MPI_Win_get_attr(win_, key, &value, &there), MPI_SUCCESS);
  EXPECT_TRUE(there) << "it stays";
  delete_result = MPI_SUCCESS;
  ASSERT_EQ(MPI_Win_delete_attr(win_, key), MPI_SUCCESS);
  ASSERT_EQ(MPI_Win_free_keyval(&key), MPI_SUCCESS);
}

TEST_F(WindowsAndFiles, PredefinedAttributesAreTheWindowsOwnAndFixed) {
  double memory[8];
  window_->base = memory;
  window_->size = sizeof memory;
  window_->disp_unit = sizeof(double);
  window_->create_flavor = MPI_WIN_FLAVOR_SHARED;
  void* base = nullptr;
  MPI_Aint* size = nullptr;
  int *unit = nullptr, *flavor = nullptr, *model = nullptr, there[5] = {};
  ASSERT_EQ(MPI_Win_get_attr(win_, MPI_WIN_BASE, &base, &there[0]), MPI_SUCCESS);
  ASSERT_EQ(MPI_Win_get_attr(win_, MPI_WIN_SIZE, &size, &there[1]), MPI_SUCCESS);
  ASSERT_EQ(MPI_Win_get_attr(win_, MPI_WIN_DISP_UNIT, &unit, &there[2]), MPI_SUCCESS);
  ASSERT_EQ(MPI_Win_get_attr(win_, MPI_WIN_CREATE_FLAVOR, &flavor, &there[3]), MPI_SUCCESS);
  ASSERT_EQ(MPI_Win_get_attr(win_, MPI_WIN_MODEL, &model, &there[4]), MPI_SUCCESS);
  EXPECT_THAT(there, ElementsAre(1, 1, 1, 1, 1));
  EXPECT_EQ(base, memory);
  EXPECT_EQ(*size, 64);
  EXPECT_EQ(*unit, 8);
  EXPECT_EQ(*flavor, MPI_WIN_FLAVOR_SHARED);
  EXPECT_EQ(*model, MPI_WIN_UNIFIED);
  for (int key : {MPI_WIN_BASE, MPI_WIN_SIZE, MPI_WIN_DISP_UNIT, MPI_WIN_CREATE_FLAVOR, MPI_WIN_MODEL}) {
    expect_refused(MPI_Win_set_attr(win_, key, memory), MPI_ERR_KEYVAL, "a predefined key");
    expect_refused(MPI_Win_delete_attr(win_, key), MPI_ERR_KEYVAL, "a predefined key");
    expect_refused(MPI_Win_free_keyval(&key), MPI_ERR_KEYVAL, "a predefined key");
  }
}

TEST_F(WindowsAndFiles, KeysBelongToOneClassOfObject) {
  int of_win = make_key("w"), of_comm = 0, value = 0, there = 0;
  void* found = nullptr;
  ASSERT_EQ(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &of_comm, nullptr), MPI_SUCCESS);
  expect_refused(MPI_Win_set_attr(win_, of_comm, &value), MPI_ERR_KEYVAL, "not a key for windows");
  expect_refused(MPI_Win_get_attr(win_, MPI_TAG_UB, &found, &there), MPI_ERR_KEYVAL, "no attribute key");
  expect_refused(MPI_Win_free_keyval(&of_comm), MPI_ERR_KEYVAL, "not a key for windows");
  expect_refused(MPI_Comm_set_attr(MPI_COMM_SELF, of_win, &value), MPI_ERR_KEYVAL, "not a key for communicators");
  expect_refused(MPI_Comm_get_attr(MPI_COMM_SELF, MPI_WIN_BASE, &found, &there), MPI_ERR_KEYVAL, "no attribute key");
  EXPECT_EQ(MPI_Comm_free_keyval(&of_comm), MPI_SUCCESS);
  EXPECT_EQ(MPI_Win_free_keyval(&of_win), MPI_SUCCESS);
}

TEST_F(WindowsAndFiles, ErrorsGoToTheHandlerOfTheObject) {
  MPI_Errhandler for_win, for_file, got;
  SharedWindow* const fresh = windows_.take();
  ASSERT_EQ(MPI_Win_get_errhandler(to_handle<MPI_Win>(fresh), &got), MPI_SUCCESS);
  EXPECT_EQ(got, MPI_ERRORS_ARE_FATAL) << "what windows begin with";
  windows_.put(fresh);
  ASSERT_EQ(MPI_File_get_errhandler(fh_, &got), MPI_SUCCESS);
  EXPECT_EQ(got, MPI_ERRORS_RETURN) << "what files begin with";
  ASSERT_EQ(MPI_Win_create_errhandler(on_win, &for_win), MPI_SUCCESS);
  ASSERT_EQ(MPI_File_create_errhandler(on_file, &for_file), MPI_SUCCESS);
  ASSERT_EQ(MPI_Win_set_errhandler(win_, for_win), MPI_SUCCESS);
  ASSERT_EQ(MPI_File_set_errhandler(fh_, for_file), MPI_SUCCESS);

  const int code = MPI_Win_set_attr(win_, MPI_KEYVAL_INVALID, nullptr);
  expect_refused(code, MPI_ERR_KEYVAL, "MPI_Win_set_attr on 'halo': argument keyval is 0");
  EXPECT_EQ(seen_code, code);
  EXPECT_EQ(seen_win, win_);
  EXPECT_EQ(MPI_Win_call_errhandler(win_, MPI_ERR_RMA_SYNC), MPI_SUCCESS);
  EXPECT_EQ(seen_code, MPI_ERR_RMA_SYNC);
  EXPECT_EQ(MPI_File_call_errhandler(fh_, MPI_ERR_NO_SPACE), MPI_SUCCESS);
  EXPECT_EQ(seen_code, MPI_ERR_NO_SPACE);
  EXPECT_EQ(seen_file, fh_);
  expect_refused(MPI_File_call_errhandler(fh_, 123456), MPI_ERR_ARG, "argument errorcode is 123456");
  // Wrong arguments of calls on a file are errors on it.
  seen_file = MPI_FILE_NULL;
  expect_refused(MPI_File_get_size(fh_, nullptr), MPI_ERR_ARG, "MPI_File_get_size");
  EXPECT_EQ(seen_file, fh_);

  EXPECT_EQ(MPI_Errhandler_free(&for_win), MPI_SUCCESS);
  EXPECT_EQ(MPI_Errhandler_free(&for_file), MPI_SUCCESS);
}

TEST_F(WindowsAndFiles, HandlersBelongToOneClassOfObject) {
  MPI_Errhandler for_comm, for_win, for_file, for_session;
  ASSERT_EQ(MPI_Comm_create_errhandler(on_comm, &for_comm), MPI_SUCCESS);
  ASSERT_EQ(MPI_Win_create_errhandler(on_win, &for_win), MPI_SUCCESS);
  ASSERT_EQ(MPI_File_create_errhandler(on_file, &for_file), MPI_SUCCESS);
  ASSERT_EQ(MPI_Session_create_errhandler(reinterpret_cast<MPI_Session_errhandler_function*>(on_comm), &for_session),
            MPI_SUCCESS);
  for (MPI_Errhandler other : {for_comm, for_file, for_session})
    expect_refused(MPI_Win_set_errhandler(win_, other), MPI_ERR_ARG, "was not made for a window");
  for (MPI_Errhandler other : {for_comm, for_win, for_session}) {
    expect_refused(MPI_File_set_errhandler(fh_, other), MPI_ERR_ARG, "was not made for a file");
    expect_refused(MPI_File_set_errhandler(MPI_FILE_NULL, other), MPI_ERR_ARG, "was not made for a file");
  }
  for (MPI_Errhandler other : {for_win, for_file, for_session})
    expect_refused(MPI_Comm_set_errhandler(MPI_COMM_SELF, other), MPI_ERR_ARG, "was not made for a communicator");
  for (MPI_Errhandler* each : {&for_comm, &for_win, &for_file, &for_session}) MPI_Errhandler_free(each);
}

TEST_F(WindowsAndFiles, FilesBeginWithTheHandlerOfTheNullHandle) {
  MPI_Errhandler handler, got;
  ASSERT_EQ(MPI_File_create_errhandler(on_file, &handler), MPI_SUCCESS);
  ASSERT_EQ(MPI_File_set_errhandler(MPI_FILE_NULL, handler), MPI_SUCCESS);
  PlainFile* const later = files_.take();
  ASSERT_EQ(MPI_File_get_errhandler(to_handle<MPI_File>(later), &got), MPI_SUCCESS);
  EXPECT_EQ(got, handler);
  MPI_Errhandler_free(&got);
  ASSERT_EQ(MPI_File_get_errhandler(fh_, &got), MPI_SUCCESS);
  EXPECT_EQ(got, MPI_ERRORS_RETURN) << "it was there before";
  files_.put(later);
  ASSERT_EQ(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN), MPI_SUCCESS);
  ASSERT_EQ(MPI_Errhandler_free(&handler), MPI_SUCCESS);
}

TEST_F(WindowsAndFiles, FatalErrorsNameTheObject) {
  window_->errhandler = Ref<Errhandler>::share(errors_are_fatal());
  EXPECT_DEATH((void)MPI_Win_delete_attr(win_, 1), "MPI_Win_delete_attr on window 'halo' failed: MPI_ERR_KEYVAL");
  file_->errhandler = Ref<Errhandler>::share(errors_abort());
  EXPECT_DEATH((void)MPI_File_call_errhandler(fh_, MPI_ERR_IO),
               "MPI_File_call_errhandler on file 'out.dat' failed: MPI_ERR_IO");
}

TEST_F(WindowsAndFiles, WindowsHaveNames) {
  char name[MPI_MAX_OBJECT_NAME], long_name[2 * MPI_MAX_OBJECT_NAME];
  int length = 0;
  ASSERT_EQ(MPI_Win_get_name(win_, name, &length), MPI_SUCCESS);
  EXPECT_STREQ(name, "halo");
  EXPECT_EQ(length, 4);
  std::fill_n(long_name, sizeof long_name - 1, 'x');
  long_name[sizeof long_name - 1] = '\0';
  ASSERT_EQ(MPI_Win_set_name(win_, long_name), MPI_SUCCESS);
  ASSERT_EQ(MPI_Win_get_name(win_, name, &length), MPI_SUCCESS);
  EXPECT_EQ(length, MPI_MAX_OBJECT_NAME - 1);
  ASSERT_EQ(MPI_Win_get_name(MPI_WIN_NULL, name, &length), MPI_SUCCESS);
  EXPECT_STREQ(name, "MPI_WIN_NULL");
}

TEST_F(WindowsAndFiles, WrongHandlesAreRefused) {
  MPI_Errhandler got;
  expect_refused(MPI_Win_get_errhandler(MPI_WIN_NULL, &got), MPI_ERR_WIN, "argument win is MPI_WIN_NULL");
  expect_refused(MPI_Win_get_errhandler(reinterpret_cast<MPI_Win>(fh_), &got), MPI_ERR_WIN,
                 "not the handle of a window");
  expect_refused(MPI_File_get_errhandler(reinterpret_cast<MPI_File>(win_), &got), MPI_ERR_FILE,
                 "not the handle of a file");
  SharedWindow* const gone = windows_.take();
  const MPI_Win freed = to_handle<MPI_Win>(gone);
  windows_.put(gone);
  expect_refused(MPI_Win_set_name(freed, "x"), MPI_ERR_WIN, "freed already");
  EXPECT_EQ(MPI_Win_fromint(MPI_Win_toint(win_)), win_);
  EXPECT_EQ(MPI_File_fromint(MPI_File_toint(fh_)), fh_);
}

}  // namespace
}  // namespace ashlar
