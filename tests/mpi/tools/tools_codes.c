/* Every return code of the tools interface (MPI-5.0, 15.3.10), and that wrong calls change nothing and end nothing: no
 * error handler runs, though that of MPI_COMM_WORLD would end the job. Those that need more than a wrong call have
 * programs of their own: tools_cvars, tools_live and tools_writer (SET_NEVER, SET_NOT_NOW, NOT_ACCESSIBLE),
 * tools_memory (MEMORY). Two are never the answer: nothing can keep the interface from beginning (CANNOT_INIT), and all
 * of it is there (NOT_SUPPORTED). INVALID_ITEM is deprecated: INVALID_INDEX takes its place. */
#include "check.h"

#define CODE(call, wanted) CHECK_EQ((call), (wanted))

static int find_cvar(const char* name) {
  int index = -1;
  CODE(MPI_T_cvar_get_index(name, &index), MPI_SUCCESS);
  return index;
}

static int find_pvar(const char* name, int class) {
  int index = -1;
  CODE(MPI_T_pvar_get_index(name, class, &index), MPI_SUCCESS);
  return index;
}

static void not_initialized(void) {
  int number = 0, provided = 0;
  MPI_Count time = 0;
  MPI_T_cvar_handle cvar = MPI_T_CVAR_HANDLE_NULL;
  MPI_T_pvar_session session = MPI_T_PVAR_SESSION_NULL;
  MPI_T_pvar_handle pvar = MPI_T_PVAR_HANDLE_NULL;
  MPI_T_event_registration registration = (MPI_T_event_registration)0;
  MPI_Info info = MPI_INFO_NULL;
  unsigned long long value = 0;
  const int wanted = MPI_T_ERR_NOT_INITIALIZED;
  CODE(MPI_T_finalize(), wanted);
  CODE(MPI_T_cvar_get_num(&number), wanted);
  CODE(MPI_T_cvar_get_info(0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), wanted);
  CODE(MPI_T_cvar_get_index("p2p.eager_limit", &number), wanted);
  CODE(MPI_T_cvar_handle_alloc(0, NULL, &cvar, &number), wanted);
  CODE(MPI_T_cvar_handle_free(&cvar), wanted);
  CODE(MPI_T_cvar_read(cvar, &value), wanted);
  CODE(MPI_T_cvar_write(cvar, &value), wanted);
  CODE(MPI_T_pvar_get_num(&number), wanted);
  CODE(MPI_T_pvar_get_info(0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), wanted);
  CODE(MPI_T_pvar_get_index("p2p.unexpected", MPI_T_PVAR_CLASS_LEVEL, &number), wanted);
  CODE(MPI_T_pvar_session_create(&session), wanted);
  CODE(MPI_T_pvar_session_free(&session), wanted);
  CODE(MPI_T_pvar_handle_alloc(session, 0, NULL, &pvar, &number), wanted);
  CODE(MPI_T_pvar_handle_free(session, &pvar), wanted);
  CODE(MPI_T_pvar_start(session, pvar), wanted);
  CODE(MPI_T_pvar_stop(session, pvar), wanted);
  CODE(MPI_T_pvar_read(session, pvar, &value), wanted);
  CODE(MPI_T_pvar_write(session, pvar, &value), wanted);
  CODE(MPI_T_pvar_reset(session, pvar), wanted);
  CODE(MPI_T_pvar_readreset(session, pvar, &value), wanted);
  CODE(MPI_T_category_get_num(&number), wanted);
  CODE(MPI_T_category_get_info(0, NULL, NULL, NULL, NULL, NULL, NULL, NULL), wanted);
  CODE(MPI_T_category_get_index("p2p", &number), wanted);
  CODE(MPI_T_category_get_num_events(0, &number), wanted);
  CODE(MPI_T_category_get_cvars(0, 0, &number), wanted);
  CODE(MPI_T_category_get_pvars(0, 0, &number), wanted);
  CODE(MPI_T_category_get_events(0, 0, &number), wanted);
  CODE(MPI_T_category_get_categories(0, 0, &number), wanted);
  CODE(MPI_T_category_changed(&number), wanted);
  CODE(MPI_T_enum_get_info(MPI_T_ENUM_NULL, &number, NULL, NULL), wanted);
  CODE(MPI_T_enum_get_item(MPI_T_ENUM_NULL, 0, &number, NULL, NULL), wanted);
  CODE(MPI_T_source_get_num(&number), wanted);
  CODE(MPI_T_source_get_info(0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), wanted);
  CODE(MPI_T_source_get_timestamp(0, &time), wanted);
  CODE(MPI_T_event_get_num(&number), wanted);
  CODE(MPI_T_event_get_info(0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), wanted);
  CODE(MPI_T_event_get_index("p2p.message_unexpected", &number), wanted);
  CODE(MPI_T_event_handle_alloc(0, NULL, MPI_INFO_NULL, &registration), wanted);
  CODE(MPI_T_event_handle_free(registration, NULL, NULL), wanted);
  CODE(MPI_T_event_handle_set_info(registration, MPI_INFO_NULL), wanted);
  CODE(MPI_T_event_handle_get_info(registration, &info), wanted);
  CODE(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL, NULL), wanted);
  CODE(MPI_T_event_callback_set_info(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL), wanted);
  CODE(MPI_T_event_callback_get_info(registration, MPI_T_CB_REQUIRE_NONE, &info), wanted);
  CODE(MPI_T_event_set_dropped_handler(registration, NULL), wanted);
  CODE(MPI_T_event_read((MPI_T_event_instance)0, 0, &value), wanted);
  CODE(MPI_T_event_copy((MPI_T_event_instance)0, &value), wanted);
  CODE(MPI_T_event_get_timestamp((MPI_T_event_instance)0, &time), wanted);
  CODE(MPI_T_event_get_source((MPI_T_event_instance)0, &number), wanted);
  CODE(MPI_T_init_thread(-77, &provided), MPI_T_ERR_INVALID);
  CODE(MPI_T_init_thread(MPI_THREAD_SINGLE, NULL), MPI_T_ERR_INVALID);
  CODE(MPI_T_finalize(), wanted);
}

/* What no handle can be: foreign, freed, of another kind, in the middle of an object. */
static void control_variables(void) {
  int number = 0, count = 0;
  unsigned long long value = 0;
  char garbage[256] = {0};
  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL, copy;
  CODE(MPI_T_cvar_get_num(NULL), MPI_T_ERR_INVALID);
  CODE(MPI_T_cvar_get_num(&number), MPI_SUCCESS);
  CODE(MPI_T_cvar_get_info(-1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
  CODE(MPI_T_cvar_get_info(number, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
  CODE(MPI_T_cvar_get_info(0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), MPI_SUCCESS);
  CODE(MPI_T_cvar_get_index("p2p.eager", &count), MPI_T_ERR_INVALID_NAME);
  CODE(MPI_T_cvar_get_index(NULL, &count), MPI_T_ERR_INVALID);
  CODE(MPI_T_cvar_get_index("p2p.eager_limit", NULL), MPI_T_ERR_INVALID);
  CODE(MPI_T_cvar_handle_alloc(number, NULL, &handle, &count), MPI_T_ERR_INVALID_INDEX);
  CODE(MPI_T_cvar_handle_alloc(0, NULL, NULL, &count), MPI_T_ERR_INVALID);
  CODE(MPI_T_cvar_handle_alloc(0, NULL, &handle, NULL), MPI_T_ERR_INVALID);
  CODE(MPI_T_cvar_handle_free(NULL), MPI_T_ERR_INVALID);
  CODE(MPI_T_cvar_handle_free(&handle), MPI_T_ERR_INVALID_HANDLE);
  CODE(MPI_T_cvar_read(MPI_T_CVAR_HANDLE_NULL, &value), MPI_T_ERR_INVALID_HANDLE);
  CODE(MPI_T_cvar_read((MPI_T_cvar_handle)(void*)garbage, &value), MPI_T_ERR_INVALID_HANDLE);
  CODE(MPI_T_cvar_write((MPI_T_cvar_handle)(void*)16, &value), MPI_T_ERR_INVALID_HANDLE);

  CODE(MPI_T_cvar_handle_alloc(find_cvar("p2p.eager_limit"), NULL, &handle, &count), MPI_SUCCESS);
  CHECK_EQ(count, 1);
  CODE(MPI_T_cvar_read(handle, NULL), MPI_T_ERR_INVALID);
  CODE(MPI_T_cvar_write(handle, NULL), MPI_T_ERR_INVALID);
  CODE(MPI_T_cvar_read((MPI_T_cvar_handle)(void*)((char*)handle + 64), &value), MPI_T_ERR_INVALID_HANDLE);
  copy = handle;
  CODE(MPI_T_cvar_handle_free(&handle), MPI_SUCCESS);
  CHECK(handle == MPI_T_CVAR_HANDLE_NULL, "a freed handle is null");
  CODE(MPI_T_cvar_read(copy, &value), MPI_T_ERR_INVALID_HANDLE);
  CODE(MPI_T_cvar_handle_free(&copy), MPI_T_ERR_INVALID_HANDLE);
}

static void performance_variables(void) {
  int number = 0, count = 0;
  unsigned long long value = 77;
  char garbage[256] = {0};
  MPI_T_pvar_session session = MPI_T_PVAR_SESSION_NULL, other, gone;
  MPI_T_pvar_handle counter, level, mark, copy, null = MPI_T_PVAR_HANDLE_NULL;
  CODE(MPI_T_pvar_get_num(&number), MPI_SUCCESS);
  CODE(MPI_T_pvar_get_info(number, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
       MPI_T_ERR_INVALID_INDEX);
  CODE(MPI_T_pvar_get_index("p2p.unexpected", MPI_T_PVAR_CLASS_TIMER, &count), MPI_T_ERR_INVALID_NAME);
  CODE(MPI_T_pvar_get_index("p2p.unexpekted", MPI_T_PVAR_CLASS_LEVEL, &count), MPI_T_ERR_INVALID_NAME);
  CODE(MPI_T_pvar_session_create(NULL), MPI_T_ERR_INVALID);
  CODE(MPI_T_pvar_session_free(&session), MPI_T_ERR_INVALID_SESSION);
  CODE(MPI_T_pvar_handle_alloc(session, 0, NULL, &counter, &count), MPI_T_ERR_INVALID_SESSION);
  CODE(MPI_T_pvar_read((MPI_T_pvar_session)(void*)garbage, null, &value), MPI_T_ERR_INVALID_SESSION);

  CODE(MPI_T_pvar_session_create(&session), MPI_SUCCESS);
  CODE(MPI_T_pvar_session_create(&other), MPI_SUCCESS);
  const int index = find_pvar("p2p.unexpected_total", MPI_T_PVAR_CLASS_COUNTER);
  CODE(MPI_T_pvar_handle_alloc(session, number, NULL, &counter, &count), MPI_T_ERR_INVALID_INDEX);
  CODE(MPI_T_pvar_handle_alloc(session, index, NULL, &counter, &count), MPI_SUCCESS);
  CODE(MPI_T_pvar_handle_alloc(session, find_pvar("p2p.unexpected", MPI_T_PVAR_CLASS_LEVEL), NULL, &level, &count),
       MPI_SUCCESS);
  CODE(MPI_T_pvar_handle_alloc(session, find_pvar("p2p.unexpected_peak", MPI_T_PVAR_CLASS_HIGHWATERMARK), NULL, &mark,
                               &count),
       MPI_SUCCESS);
  /* Bound to a communicator: a tool that passes no object must not crash. */
  const int bound = find_pvar("comm.unexpected", MPI_T_PVAR_CLASS_LEVEL);
  CODE(MPI_T_pvar_handle_alloc(session, bound, NULL, &copy, &count), MPI_T_ERR_INVALID_HANDLE);
  MPI_Comm none = MPI_COMM_NULL, wild = (MPI_Comm)(void*)garbage;
  CODE(MPI_T_pvar_handle_alloc(session, bound, &none, &copy, &count), MPI_T_ERR_INVALID_HANDLE);
  CODE(MPI_T_pvar_handle_alloc(session, bound, &wild, &copy, &count), MPI_T_ERR_INVALID_HANDLE);

  CODE(MPI_T_pvar_read(session, counter, NULL), MPI_T_ERR_INVALID);
  CODE(MPI_T_pvar_read(session, null, &value), MPI_T_ERR_INVALID_HANDLE);
  CODE(MPI_T_pvar_read(session, MPI_T_PVAR_ALL_HANDLES, &value), MPI_T_ERR_INVALID_HANDLE);
  CODE(MPI_T_pvar_write(session, MPI_T_PVAR_ALL_HANDLES, &value), MPI_T_ERR_INVALID_HANDLE);
  CODE(MPI_T_pvar_readreset(session, MPI_T_PVAR_ALL_HANDLES, &value), MPI_T_ERR_INVALID_HANDLE);
  CODE(MPI_T_pvar_start(session, null), MPI_T_ERR_INVALID_HANDLE);
  /* Of another session. */
  CODE(MPI_T_pvar_read(other, counter, &value), MPI_T_ERR_INVALID_HANDLE);
  CODE(MPI_T_pvar_write(other, counter, &value), MPI_T_ERR_INVALID_HANDLE);
  CODE(MPI_T_pvar_readreset(other, counter, &value), MPI_T_ERR_INVALID_HANDLE);
  CODE(MPI_T_pvar_start(other, counter), MPI_T_ERR_INVALID_HANDLE);
  CODE(MPI_T_pvar_stop(other, counter), MPI_T_ERR_INVALID_HANDLE);
  CODE(MPI_T_pvar_reset(other, counter), MPI_T_ERR_INVALID_HANDLE);
  CODE(MPI_T_pvar_handle_free(other, &counter), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(value, 77);
  /* A level is continuous and read-only. */
  CODE(MPI_T_pvar_start(session, level), MPI_T_ERR_PVAR_NO_STARTSTOP);
  CODE(MPI_T_pvar_stop(session, level), MPI_T_ERR_PVAR_NO_STARTSTOP);
  CODE(MPI_T_pvar_write(session, level, &value), MPI_T_ERR_PVAR_NO_WRITE);
  CODE(MPI_T_pvar_reset(session, level), MPI_T_ERR_PVAR_NO_WRITE);
  CODE(MPI_T_pvar_readreset(session, level, &value), MPI_T_ERR_PVAR_NO_ATOMIC);
  /* All of a session: what does not apply to a handle is left out. */
  CODE(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES), MPI_SUCCESS);
  CODE(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES), MPI_SUCCESS);
  CODE(MPI_T_pvar_reset(session, MPI_T_PVAR_ALL_HANDLES), MPI_SUCCESS);
  CODE(MPI_T_pvar_stop(session, MPI_T_PVAR_ALL_HANDLES), MPI_SUCCESS);
  CODE(MPI_T_pvar_start(other, MPI_T_PVAR_ALL_HANDLES), MPI_SUCCESS);
  copy = counter;
  CODE(MPI_T_pvar_handle_free(session, &counter), MPI_SUCCESS);
  CHECK(counter == MPI_T_PVAR_HANDLE_NULL, "a freed handle is null");
  CODE(MPI_T_pvar_read(session, copy, &value), MPI_T_ERR_INVALID_HANDLE);
  CODE(MPI_T_pvar_handle_free(session, &copy), MPI_T_ERR_INVALID_HANDLE);
  /* The session takes its handles with it. */
  gone = session;
  CODE(MPI_T_pvar_session_free(&session), MPI_SUCCESS);
  CHECK(session == MPI_T_PVAR_SESSION_NULL, "a freed session is null");
  CODE(MPI_T_pvar_read(gone, level, &value), MPI_T_ERR_INVALID_SESSION);
  CODE(MPI_T_pvar_read(other, mark, &value), MPI_T_ERR_INVALID_HANDLE);
  CODE(MPI_T_pvar_session_free(&other), MPI_SUCCESS);
}

static void categories_and_enumerations(void) {
  int number = 0, one = 0, some[2] = {-5, -5};
  CODE(MPI_T_category_get_num(&number), MPI_SUCCESS);
  CODE(MPI_T_category_get_info(number, NULL, NULL, NULL, NULL, NULL, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
  CODE(MPI_T_category_get_index("no.such", &one), MPI_T_ERR_INVALID_NAME);
  CODE(MPI_T_category_get_num_events(-1, &one), MPI_T_ERR_INVALID_INDEX);
  CODE(MPI_T_category_get_cvars(number, 1, some), MPI_T_ERR_INVALID_INDEX);
  CODE(MPI_T_category_get_pvars(-1, 1, some), MPI_T_ERR_INVALID_INDEX);
  CODE(MPI_T_category_get_events(number, 1, some), MPI_T_ERR_INVALID_INDEX);
  CODE(MPI_T_category_get_categories(number, 1, some), MPI_T_ERR_INVALID_INDEX);
  CODE(MPI_T_category_get_cvars(0, -1, some), MPI_T_ERR_INVALID);
  CODE(MPI_T_category_get_cvars(0, 1, NULL), MPI_T_ERR_INVALID);
  CODE(MPI_T_category_get_cvars(0, 0, NULL), MPI_SUCCESS);
  CODE(MPI_T_category_get_cvars(0, 1, some), MPI_SUCCESS);
  CHECK(some[0] >= 0, "an index");
  CHECK_EQ(some[1], -5);
  CODE(MPI_T_category_changed(NULL), MPI_T_ERR_INVALID);

  MPI_T_enum words = MPI_T_ENUM_NULL;
  CODE(MPI_T_cvar_get_info(find_cvar("p2p.single_copy"), NULL, NULL, NULL, NULL, &words, NULL, NULL, NULL, NULL),
       MPI_SUCCESS);
  CODE(MPI_T_enum_get_info(words, &number, NULL, NULL), MPI_SUCCESS);
  CHECK_EQ(number, 2);
  CODE(MPI_T_enum_get_item(words, 2, &one, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
  CODE(MPI_T_enum_get_item(words, -1, &one, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
  CODE(MPI_T_enum_get_info(MPI_T_ENUM_NULL, &number, NULL, NULL), MPI_T_ERR_INVALID_HANDLE);
  CODE(MPI_T_enum_get_item((MPI_T_enum)(void*)&number, 0, &one, NULL, NULL), MPI_T_ERR_INVALID_HANDLE);
}

static void heard(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety,
                  void* data) {
  (void)instance, (void)registration, (void)safety, (void)data;
}

static void events(void) {
  int number = 0, one = 0;
  MPI_Count time = 0;
  unsigned long long value = 0;
  MPI_Info info = MPI_INFO_NULL;
  MPI_T_event_registration registration, freed;
  CODE(MPI_T_source_get_num(&number), MPI_SUCCESS);
  CHECK(number > 0, "a source");
  CODE(MPI_T_source_get_info(number, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
  CODE(MPI_T_source_get_timestamp(number, &time), MPI_T_ERR_INVALID_INDEX);
  CODE(MPI_T_source_get_timestamp(0, NULL), MPI_T_ERR_INVALID);
  CODE(MPI_T_event_get_num(&number), MPI_SUCCESS);
  CODE(MPI_T_event_get_info(number, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
       MPI_T_ERR_INVALID_INDEX);
  CODE(MPI_T_event_get_index("p2p.no_such", &one), MPI_T_ERR_INVALID_NAME);
  CODE(MPI_T_event_handle_alloc(number, NULL, MPI_INFO_NULL, &registration), MPI_T_ERR_INVALID_INDEX);
  CODE(MPI_T_event_get_index("p2p.message_unexpected", &one), MPI_SUCCESS);
  CODE(MPI_T_event_handle_alloc(one, NULL, (MPI_Info)(void*)8, &registration), MPI_T_ERR_INVALID);
  CODE(MPI_T_event_handle_alloc(one, NULL, MPI_INFO_NULL, NULL), MPI_T_ERR_INVALID);
  CODE(MPI_T_event_handle_alloc(one, NULL, MPI_INFO_NULL, &registration), MPI_SUCCESS);
  CODE(MPI_T_event_register_callback(registration, (MPI_T_cb_safety)1, MPI_INFO_NULL, NULL, heard), MPI_T_ERR_INVALID);
  CODE(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL, heard), MPI_SUCCESS);
  CODE(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL, NULL), MPI_SUCCESS);
  CODE(MPI_T_event_callback_get_info(registration, MPI_T_CB_REQUIRE_NONE, NULL), MPI_T_ERR_INVALID);
  CODE(MPI_T_event_callback_get_info(registration, MPI_T_CB_REQUIRE_NONE, &info), MPI_SUCCESS);
  CODE(MPI_T_event_callback_set_info(registration, MPI_T_CB_REQUIRE_NONE, info), MPI_SUCCESS);
  CODE(MPI_T_event_handle_set_info(registration, info), MPI_SUCCESS);
  MPI_Info_free(&info);
  CODE(MPI_T_event_handle_get_info(registration, &info), MPI_SUCCESS);
  MPI_Info_free(&info);
  CODE(MPI_T_event_set_dropped_handler(registration, NULL), MPI_SUCCESS);
  /* Instances live in callbacks alone. */
  CODE(MPI_T_event_read((MPI_T_event_instance)0, 0, &value), MPI_T_ERR_INVALID_HANDLE);
  CODE(MPI_T_event_copy((MPI_T_event_instance)(void*)&value, &value), MPI_T_ERR_INVALID_HANDLE);
  CODE(MPI_T_event_get_timestamp((MPI_T_event_instance)0, &time), MPI_T_ERR_INVALID_HANDLE);
  CODE(MPI_T_event_get_source((MPI_T_event_instance)0, &one), MPI_T_ERR_INVALID_HANDLE);
  freed = registration;
  CODE(MPI_T_event_handle_free(registration, NULL, NULL), MPI_SUCCESS);
  CODE(MPI_T_event_handle_free(freed, NULL, NULL), MPI_T_ERR_INVALID_HANDLE);
  CODE(MPI_T_event_register_callback(freed, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL, heard),
       MPI_T_ERR_INVALID_HANDLE);
}

static void all(void) {
  control_variables();
  performance_variables();
  categories_and_enumerations();
  events();
}

/* The limits are parameters, which the program sets itself. */
static void limits(void) {
  enum { kMost = 5 };
  unsigned long long before = 0, few = kMost;
  int count = 0;
  MPI_T_cvar_handle handles, more, sessions;
  MPI_T_pvar_session session[kMost + 1];
  CODE(MPI_T_cvar_handle_alloc(find_cvar("tools.handle_limit"), NULL, &handles, &count), MPI_SUCCESS);
  CODE(MPI_T_cvar_handle_alloc(find_cvar("tools.session_limit"), NULL, &sessions, &count), MPI_SUCCESS);
  CODE(MPI_T_cvar_read(handles, &before), MPI_SUCCESS);
  unsigned long long two = 2;
  CODE(MPI_T_cvar_write(handles, &two), MPI_SUCCESS);
  CODE(MPI_T_cvar_handle_alloc(0, NULL, &more, &count), MPI_T_ERR_OUT_OF_HANDLES);
  CODE(MPI_T_cvar_write(handles, &before), MPI_SUCCESS);
  CODE(MPI_T_cvar_handle_alloc(0, NULL, &more, &count), MPI_SUCCESS);
  CODE(MPI_T_cvar_write(sessions, &few), MPI_SUCCESS);
  for (int i = 0; i < kMost; ++i) CODE(MPI_T_pvar_session_create(&session[i]), MPI_SUCCESS);
  CODE(MPI_T_pvar_session_create(&session[kMost]), MPI_T_ERR_OUT_OF_SESSIONS);
  for (int i = 0; i < kMost; ++i) CODE(MPI_T_pvar_session_free(&session[i]), MPI_SUCCESS);
  unsigned long long none = 0;
  CODE(MPI_T_cvar_write(sessions, &none), MPI_T_ERR_INVALID);
  CODE(MPI_T_cvar_read(sessions, &none), MPI_SUCCESS);
  CHECK_EQ(none, kMost);
  /* The last finalize ends what is left. */
}

int main(int argc, char** argv) {
  int provided = 0;
  not_initialized();
  CODE(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), MPI_SUCCESS);
  CODE(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided), MPI_SUCCESS);
  all();
  limits();
  CODE(MPI_T_finalize(), MPI_SUCCESS);
  all();
  CODE(MPI_T_finalize(), MPI_SUCCESS);
  not_initialized();
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &check_size);
  not_initialized();
  CODE(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), MPI_SUCCESS);
  all();
  MPI_Finalize();
  all();
  CODE(MPI_T_finalize(), MPI_SUCCESS);
  not_initialized();
  return check_failures ? 1 : 0;
}
