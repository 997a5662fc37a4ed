/* Lists the performance variables and the events of a process of its own, one in a line, for tests/gen/check_tools.py:
 * kind, name, class, binding, text; of events the number of fields in place of the class; the words of their
 * enumerations, one in a line. With "count": how many control
 * variables, performance variables, event types and categories there are before and after MPI_Init. Any MPI library's
 * headers will do for that. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static const char* class_word(int class) {
  switch (class) {
    case MPI_T_PVAR_CLASS_STATE:
      return "state";
    case MPI_T_PVAR_CLASS_LEVEL:
      return "level";
    case MPI_T_PVAR_CLASS_SIZE:
      return "size";
    case MPI_T_PVAR_CLASS_PERCENTAGE:
      return "percentage";
    case MPI_T_PVAR_CLASS_HIGHWATERMARK:
      return "high-water mark";
    case MPI_T_PVAR_CLASS_LOWWATERMARK:
      return "low-water mark";
    case MPI_T_PVAR_CLASS_COUNTER:
      return "counter";
    case MPI_T_PVAR_CLASS_AGGREGATE:
      return "aggregate";
    case MPI_T_PVAR_CLASS_TIMER:
      return "timer";
    default:
      return "generic";
  }
}

static void list_pvars(void) {
  int number = 0;
  MPI_T_pvar_get_num(&number);
  for (int i = 0; i < number; ++i) {
    char name[256], text[2048];
    int name_length = sizeof name, text_length = sizeof text, class = 0, bind = 0, verbosity, readonly, continuous;
    int atomic;
    MPI_Datatype type;
    MPI_T_enum words;
    if (MPI_T_pvar_get_info(i, name, &name_length, &verbosity, &class, &type, &words, text, &text_length, &bind,
                            &readonly, &continuous, &atomic) != MPI_SUCCESS)
      continue;
    printf("pvar\t%s\t%s\t%s\t%s\n", name, class_word(class), bind == MPI_T_BIND_MPI_COMM ? "communicator" : "", text);
  }
}

static void list_words(const char* event, MPI_T_enum words) {
  char name[256], word[256];
  int number = 0, length = sizeof name;
  if (words == MPI_T_ENUM_NULL || MPI_T_enum_get_info(words, &number, name, &length) != MPI_SUCCESS) return;
  for (int i = 0; i < number; ++i) {
    int value = 0;
    length = sizeof word;
    if (MPI_T_enum_get_item(words, i, &value, word, &length) != MPI_SUCCESS) continue;
    printf("word\t%s\t%d\t\t%s\n", event, value, word);
  }
}

static void list_events(void) {
  int number = 0;
  MPI_T_event_get_num(&number);
  for (int i = 0; i < number; ++i) {
    char name[256], text[2048];
    int name_length = sizeof name, text_length = sizeof text, fields = 0, bind = 0, verbosity = 0;
    MPI_T_enum words;
    MPI_Info info;
    if (MPI_T_event_get_info(i, name, &name_length, &verbosity, NULL, NULL, &fields, &words, &info, text, &text_length,
                             &bind) != MPI_SUCCESS)
      continue;
    printf("event\t%s\t%d\t%s\t%s\n", name, fields, bind == MPI_T_BIND_MPI_COMM ? "communicator" : "", text);
    list_words(name, words);
    if (info != MPI_INFO_NULL) MPI_Info_free(&info);
  }
}

static void count(const char* when) {
  int cvars = 0, pvars = 0, events = 0, categories = 0;
  MPI_T_cvar_get_num(&cvars);
  MPI_T_pvar_get_num(&pvars);
  MPI_T_event_get_num(&events);
  MPI_T_category_get_num(&categories);
  printf("%s: %d control variables, %d performance variables, %d event types, %d categories\n", when, cvars, pvars,
         events, categories);
}

int main(int argc, char** argv) {
  const int counts = argc > 1 && strcmp(argv[1], "count") == 0;
  int provided = 0;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  if (counts) count("before MPI_Init");
  MPI_Init(&argc, &argv);
  if (counts) {
    count("after MPI_Init");
  } else {
    /* The first window opens the components of one-sided communication. */
    MPI_Win window;
    MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    list_pvars();
    list_events();
    MPI_Win_free(&window);
  }
  MPI_Finalize();
  MPI_T_finalize();
  return 0;
}
