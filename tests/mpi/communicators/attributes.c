/* Attributes: what callbacks return and when they are called, keys that are given up, stale values, keys of other
 * kinds; callbacks that wait for threads which use attributes. Error classes of the user's that are taken away again.
 */
#include <pthread.h>

#include "check.h"

static int class_of(int code) {
  int result;
  MPI_Error_class(code, &result);
  return result;
}

static int deleted, copied, delete_result, copy_result, copy_flag;
static void* last_deleted;

static int on_delete(MPI_Comm comm, int key, void* value, void* state) {
  (void)comm, (void)key, (void)state;
  deleted++;
  last_deleted = value;
  return delete_result;
}
static int on_copy(MPI_Comm comm, int key, void* state, void* in, void* out, int* flag) {
  (void)comm, (void)key;
  copied++;
  *(void**)out = (char*)in + (state ? *(int*)state : 0);
  *flag = copy_flag;
  return copy_result;
}
static void reset(void) { deleted = copied = delete_result = copy_result = 0, copy_flag = 1; }

static void* value_of(MPI_Comm comm, int key) {
  void* value = NULL;
  int flag = 0;
  MUST(MPI_Comm_get_attr(comm, key, &value, &flag));
  return flag ? value : NULL;
}

static void callbacks(void) {
  static char place[8];
  int key, shift = 2, flag;
  void* value;
  MPI_Comm a, b = MPI_COMM_NULL;
  MUST(MPI_Comm_create_keyval(on_copy, on_delete, &key, &shift));
  MUST(MPI_Comm_dup(MPI_COMM_SELF, &a));
  MUST(MPI_Comm_get_attr(a, key, &value, &flag));
  CHECK_EQ(flag, 0);
  MUST(MPI_Comm_set_attr(a, key, place));
  reset();
  MUST(MPI_Comm_dup(a, &b));
  CHECK(copied == 1 && value_of(b, key) == place + 2);
  MUST(MPI_Comm_set_attr(b, key, place + 5)); /* over an old value: that is deleted first */
  CHECK(deleted == 1 && last_deleted == place + 2 && value_of(b, key) == place + 5);
  delete_result = MPI_ERR_OTHER; /* and is not replaced when that fails */
  CHECK_EQ(class_of(MPI_Comm_set_attr(b, key, place)), MPI_ERR_OTHER);
  CHECK(value_of(b, key) == place + 5);
  CHECK_EQ(class_of(MPI_Comm_delete_attr(b, key)), MPI_ERR_OTHER);
  CHECK(value_of(b, key) == place + 5);
  CHECK_EQ(class_of(MPI_Comm_free(&b)), MPI_ERR_OTHER);
  CHECK(b != MPI_COMM_NULL && value_of(b, key) == place + 5);
  reset();
  MUST(MPI_Comm_free(&b));
  CHECK(deleted == 1 && last_deleted == place + 5);
  copy_flag = 0; /* not this time */
  MUST(MPI_Comm_dup(a, &b));
  CHECK(value_of(b, key) == NULL);
  MUST(MPI_Comm_free(&b));
  copy_result = MPI_ERR_ARG; /* a copy that fails fails the duplicate, and leaves nothing behind */
  CHECK_EQ(class_of(MPI_Comm_dup(a, &b)), MPI_ERR_ARG);
  reset();
  CHECK_EQ(deleted, 0);
  /* Splits and creations copy nothing. */
  MUST(MPI_Comm_split(a, 0, 0, &b));
  CHECK(value_of(b, key) == NULL && copied == 0);
  MUST(MPI_Comm_free(&b));
  /* A key that is given up works until its last value has gone. */
  const int kept = key;
  MUST(MPI_Comm_free_keyval(&key));
  CHECK_EQ(key, MPI_KEYVAL_INVALID);
  CHECK(value_of(a, kept) == place);
  MUST(MPI_Comm_dup(a, &b));
  CHECK(value_of(b, kept) == place + 2);
  MUST(MPI_Comm_free(&a));
  MUST(MPI_Comm_free(&b));
  CHECK_EQ(class_of(MPI_Comm_get_attr(MPI_COMM_SELF, kept, &value, &flag)), MPI_ERR_KEYVAL);
}

static void keys(void) {
  int key, win_key, type_key, value = 7;
  /* Values do not come back with the storage of their communicator; no functions are functions that do nothing. */
  MUST(MPI_Comm_create_keyval(NULL, NULL, &key, NULL));
  for (int i = 0; i < 100; i++) {
    MPI_Comm comm;
    MUST(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    CHECK(value_of(comm, key) == NULL);
    MUST(MPI_Comm_set_attr(comm, key, &value));
    MUST(MPI_Comm_free(&comm));
  }
  MUST(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &win_key, NULL));
  MUST(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &type_key, NULL));
  CHECK(key != win_key && key != type_key && win_key != type_key);
  CHECK_EQ(class_of(MPI_Comm_set_attr(MPI_COMM_SELF, win_key, &value)), MPI_ERR_KEYVAL);
  CHECK_EQ(class_of(MPI_Comm_set_attr(MPI_COMM_SELF, type_key, &value)), MPI_ERR_KEYVAL);
  int wrong = win_key;
  CHECK_EQ(class_of(MPI_Comm_free_keyval(&wrong)), MPI_ERR_KEYVAL);
  MUST(MPI_Win_free_keyval(&win_key));
  MUST(MPI_Type_free_keyval(&type_key));
  MUST(MPI_Comm_free_keyval(&key));
  static const int predefined[] = {MPI_TAG_UB, MPI_HOST,          MPI_IO,          MPI_WTIME_IS_GLOBAL,
                                   MPI_APPNUM, MPI_UNIVERSE_SIZE, MPI_LASTUSEDCODE};
  for (size_t i = 0; i < sizeof predefined / sizeof *predefined; i++) {
    void* found;
    int flag, k = predefined[i];
    MUST(MPI_Comm_get_attr(MPI_COMM_WORLD, k, &found, &flag));
    CHECK_EQ(class_of(MPI_Comm_set_attr(MPI_COMM_WORLD, k, &value)), MPI_ERR_KEYVAL);
    CHECK_EQ(class_of(MPI_Comm_delete_attr(MPI_COMM_WORLD, k)), MPI_ERR_KEYVAL);
    CHECK_EQ(class_of(MPI_Comm_free_keyval(&k)), MPI_ERR_KEYVAL);
  }
}

/* A key that its own delete function frees, once more or for the first time. */
static int freed_in_delete;
static int delete_frees_key(MPI_Comm comm, int key, void* value, void* state) {
  (void)comm, (void)value, (void)state;
  freed_in_delete++;
  return MPI_Comm_free_keyval(&key);
}
static void keys_freed_in_callbacks(void) {
  static int value;
  for (int freed_before = 0; freed_before < 2; freed_before++) {
    for (int by_hand = 0; by_hand < 2; by_hand++) {
      int key;
      MPI_Comm comm;
      MUST(MPI_Comm_create_keyval(NULL, delete_frees_key, &key, NULL));
      MUST(MPI_Comm_dup(MPI_COMM_SELF, &comm));
      MUST(MPI_Comm_set_attr(comm, key, &value));
      int copy = key;
      if (freed_before) MUST(MPI_Comm_free_keyval(&copy));
      if (by_hand) MUST(MPI_Comm_delete_attr(comm, key));
      MUST(MPI_Comm_free(&comm));
      CHECK_EQ(class_of(MPI_Comm_free_keyval(&key)), MPI_ERR_KEYVAL);
    }
  }
  CHECK_EQ(freed_in_delete, 4);
}

/* A callback that waits for a thread which uses attributes of another communicator. */
static MPI_Comm others;
static int others_key;
static void* use_attributes(void* unused) {
  static int value;
  MUST(MPI_Comm_set_attr(others, others_key, &value));
  CHECK(value_of(others, others_key) == &value);
  MUST(MPI_Comm_delete_attr(others, others_key));
  return unused;
}
static void with_a_thread(void) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, use_attributes, NULL) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
}
static int delete_with_a_thread(MPI_Comm comm, int key, void* value, void* state) {
  (void)comm, (void)key, (void)value, (void)state;
  with_a_thread();
  return MPI_SUCCESS;
}
static int copy_with_a_thread(MPI_Comm comm, int key, void* state, void* in, void* out, int* flag) {
  (void)comm, (void)key, (void)state;
  with_a_thread();
  *(void**)out = in;
  *flag = 1;
  return MPI_SUCCESS;
}
static void threads(void) {
  static int value;
  int key;
  MPI_Comm a, b;
  MUST(MPI_Comm_dup(MPI_COMM_SELF, &others));
  MUST(MPI_Comm_create_keyval(NULL, NULL, &others_key, NULL));
  MUST(MPI_Comm_create_keyval(copy_with_a_thread, delete_with_a_thread, &key, NULL));
  MUST(MPI_Comm_dup(MPI_COMM_SELF, &a));
  MUST(MPI_Comm_set_attr(a, key, &value));
  MUST(MPI_Comm_set_attr(a, key, &value));
  MUST(MPI_Comm_dup(a, &b));
  MUST(MPI_Comm_delete_attr(a, key));
  MUST(MPI_Comm_free(&b));
  MUST(MPI_Comm_free(&a));
  MUST(MPI_Comm_free_keyval(&key));
  MUST(MPI_Comm_free_keyval(&others_key));
  MUST(MPI_Comm_free(&others));
}

static void user_errors(void) {
  int mine, code, other, length, result, *last, flag;
  char text[MPI_MAX_ERROR_STRING] = "?";
  MUST(MPI_Add_error_class(&mine));
  MUST(MPI_Error_string(mine, text, &length)); /* no text yet */
  CHECK(length == 0 && text[0] == '\0');
  MUST(MPI_Add_error_code(mine, &code));
  MUST(MPI_Add_error_code(MPI_ERR_TAG, &other)); /* of a predefined class */
  MUST(MPI_Error_class(other, &result));
  CHECK_EQ(result, MPI_ERR_TAG);
  MUST(MPI_Add_error_string(mine, "the first text"));
  MUST(MPI_Add_error_string(mine, "the second text"));
  MUST(MPI_Error_string(mine, text, &length));
  CHECK(strcmp(text, "the second text") == 0 && length == (int)strlen(text));
  CHECK_EQ(class_of(MPI_Add_error_string(MPI_ERR_TAG, "not yours")), MPI_ERR_ARG);
  MUST(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag));
  CHECK(flag && *last >= other && *last >= code);
  CHECK(MPI_Remove_error_class(mine) != MPI_SUCCESS); /* it has a code and a text */
  MUST(MPI_Remove_error_code(code));
  CHECK(MPI_Remove_error_class(mine) != MPI_SUCCESS);
  MUST(MPI_Remove_error_string(mine));
  MUST(MPI_Remove_error_class(mine));
  CHECK(MPI_Error_class(mine, &result) != MPI_SUCCESS);
  CHECK_EQ(class_of(MPI_Remove_error_code(code)), MPI_ERR_ARG);
  CHECK_EQ(class_of(MPI_Remove_error_class(MPI_ERR_TAG)), MPI_ERR_ARG);
  MUST(MPI_Remove_error_code(other));
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MUST(MPI_Comm_rank(MPI_COMM_WORLD, &check_rank));
  MUST(MPI_Comm_size(MPI_COMM_WORLD, &check_size));
  reset();
  callbacks();
  keys();
  keys_freed_in_callbacks();
  if (provided == MPI_THREAD_MULTIPLE) threads();
  user_errors();
  return check_end();
}
