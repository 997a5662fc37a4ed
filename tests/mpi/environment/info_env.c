/* How a process was started is the same before MPI_Init, between, after MPI_Finalize, and in a session.
 * Arguments: init or session, then KEY=VALUE for what has to be there, or KEY= for what must not. */
#include "check.h"

enum { kMostKeys = 20 };
typedef struct {
  int count;
  char key[kMostKeys][MPI_MAX_INFO_KEY], value[kMostKeys][MPI_MAX_INFO_VAL];
} Contents;

static Contents before, now;

static void read_all(MPI_Info info, Contents* contents) {
  CHECK_EQ(MPI_Info_get_nkeys(info, &contents->count), MPI_SUCCESS);
  if (contents->count > kMostKeys) contents->count = kMostKeys;
  for (int i = 0; i < contents->count; i++) {
    int length = MPI_MAX_INFO_VAL, flag = 0;
    CHECK_EQ(MPI_Info_get_nthkey(info, i, contents->key[i]), MPI_SUCCESS);
    CHECK_EQ(MPI_Info_get_string(info, contents->key[i], &length, contents->value[i], &flag), MPI_SUCCESS);
    CHECK(flag, "key %s", contents->key[i]);
  }
}

static void create(Contents* contents) {
  MPI_Info info = MPI_INFO_NULL;
  CHECK_EQ(MPI_Info_create_env(0, NULL, &info), MPI_SUCCESS);
  read_all(info, contents);
  CHECK_EQ(MPI_Info_free(&info), MPI_SUCCESS);
}

static const char* value_of(const Contents* contents, const char* key) {
  for (int i = 0; i < contents->count; i++)
    if (strcmp(contents->key[i], key) == 0) return contents->value[i];
  return NULL;
}

static void is_as_before(const char* when) {
  CHECK(now.count == before.count, "%s: %d keys, before it were %d", when, now.count, before.count);
  for (int i = 0; i < now.count; i++) {
    const char* const first = value_of(&before, now.key[i]);
    CHECK(first && strcmp(first, now.value[i]) == 0, "%s: %s is '%s', before it was %s%s%s", when, now.key[i],
          now.value[i], first ? "'" : "", first ? first : "missing", first ? "'" : "");
  }
}

int main(int argc, char** argv) {
  create(&before);
  for (int i = 2; i < argc; i++) {
    const char* const equals = strchr(argv[i], '=');
    char key[MPI_MAX_INFO_KEY];
    snprintf(key, sizeof key, "%.*s", (int)(equals - argv[i]), argv[i]);
    const char* const is = value_of(&before, key);
    CHECK(equals[1] ? is && strcmp(is, equals + 1) == 0 : !is, "%s: it is '%s'", argv[i], is ? is : "(missing)");
  }
  const char* const known[] = {"command", "argv", "wdir", "arch", "host"};
  for (int i = 0; i < 5; i++) CHECK(value_of(&before, known[i]), "%s is missing", known[i]);
  if (argc > 1 && strcmp(argv[1], "session") == 0) {
    MPI_Session session;
    CHECK_EQ(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session), MPI_SUCCESS);
    create(&now);
    is_as_before("in a session");
    CHECK_EQ(MPI_Session_finalize(&session), MPI_SUCCESS);
  } else {
    int provided = -1;
    CHECK_EQ(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided), MPI_SUCCESS);
    read_all(MPI_INFO_ENV, &now);
    is_as_before("MPI_INFO_ENV");
    create(&now);
    is_as_before("after MPI_Init");
    CHECK_EQ(MPI_Finalize(), MPI_SUCCESS);
  }
  create(&now);
  is_as_before("at the end");
  return check_failures != 0;
}
