/* Jobs that start or meet others, for further_test.py: what the first argument says. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;

static void say(const char* words) {
  printf("%s\n", words);
  fflush(stdout);
}

static void greet(MPI_Comm inter) {
  int remote = 0, sum = 0, one = 1;
  MPI_Comm_remote_size(inter, &remote);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter);
  if (sum != remote) MPI_Abort(MPI_COMM_WORLD, 9);
  if (rank == 0) printf("met %d\n", remote);
}

/* Both jobs meet at the port once, and part. */
static void meet_at(const char* port, int accepts) {
  MPI_Comm inter;
  if (accepts)
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
  else
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
  greet(inter);
  MPI_Comm merged;
  MPI_Intercomm_merge(inter, accepts, &merged);
  int value = rank, sum = 0, all = 0;
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, merged);
  MPI_Comm_size(merged, &all);
  if (rank == 0) printf("merged %d\n", all);
  MPI_Comm_disconnect(&merged);
  MPI_Comm_disconnect(&inter);
}

/* The name of the port goes through a file that only this user can read. */
static void meet(const char* what, const char* file, int times) {
  const int accepts = strcmp(what, "accept") == 0;
  char port[MPI_MAX_PORT_NAME] = "", part[512];
  if (rank == 0 && accepts) {
    MPI_Open_port(MPI_INFO_NULL, port);
    snprintf(part, sizeof part, "%s.part", file);
    FILE* out = fopen(part, "w");
    fputs(port, out);
    fclose(out);
    rename(part, file);
  } else if (rank == 0) {
    FILE* in;
    while ((in = fopen(file, "r")) == NULL) usleep(10000);
    if (fgets(port, sizeof port, in) == NULL) exit(3);
    fclose(in);
  }
  for (int i = 0; i < times; i++) meet_at(port, accepts);
}

static void name(const char* what, const char* service) {
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Comm inter;
  if (strcmp(what, "publish") == 0) {
    MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Publish_name(service, MPI_INFO_NULL, port);
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
    MPI_Unpublish_name(service, MPI_INFO_NULL, port);
  } else {
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    while (MPI_Lookup_name(service, MPI_INFO_NULL, port) != MPI_SUCCESS) usleep(10000);
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
  }
  greet(inter);
  MPI_Comm_disconnect(&inter);
}

static void wait_for_ever(MPI_Comm comm) {
  int nothing;
  MPI_Recv(&nothing, 1, MPI_INT, 0, 1, comm, MPI_STATUS_IGNORE);
}

static void parent(const char* program, const char* what) {
  MPI_Comm children;
  char* arguments[] = {(char*)what, NULL};
  MPI_Comm_spawn(program, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
  if (strcmp(what, "outlives") == 0) {
    MPI_Comm_disconnect(&children);
    say("parent ends");
  }
  if (strcmp(what, "finalizes") == 0) return; /* MPI_Finalize waits for the children */
  if (strcmp(what, "parent-dies") == 0) {
    MPI_Barrier(children);
    raise(SIGKILL);
  }
  if (strcmp(what, "child-dies") == 0) {
    int nothing, class = 0;
    MPI_Comm_set_errhandler(children, MPI_ERRORS_RETURN);
    const int code = MPI_Recv(&nothing, 1, MPI_INT, 0, 1, children, MPI_STATUS_IGNORE);
    MPI_Error_class(code, &class);
    say(class == MPI_ERR_PROC_ABORTED ? "the child is gone" : "another error");
    MPI_Comm_free(&children);
  }
  if (strcmp(what, "abort") == 0) {
    MPI_Barrier(children);
    MPI_Abort(children, 5);
  }
  if (strcmp(what, "hangs") == 0) wait_for_ever(children);
}

static void child(MPI_Comm up, const char* what) {
  if (strcmp(what, "outlives") == 0) {
    MPI_Comm_disconnect(&up);
    usleep(500000);
    if (rank == 0) say("child ends");
  }
  if (strcmp(what, "finalizes") == 0) {
    usleep(300000);
    if (rank == 0) say("child ends");
  }
  if (strcmp(what, "parent-dies") == 0 || strcmp(what, "abort") == 0) {
    MPI_Barrier(up);
    wait_for_ever(up);
  }
  if (strcmp(what, "child-dies") == 0 && rank == 0) raise(SIGKILL);
  if (strcmp(what, "child-dies") == 0) wait_for_ever(MPI_COMM_WORLD);
  if (strcmp(what, "hangs") == 0) wait_for_ever(up);
}

int main(int argc, char** argv) {
  MPI_Comm up;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_get_parent(&up);
  const char* const what = argc > 1 ? argv[1] : "";
  if (up != MPI_COMM_NULL)
    child(up, what);
  else if (strcmp(what, "accept") == 0 || strcmp(what, "connect") == 0)
    meet(what, argv[2], argc > 3 ? atoi(argv[3]) : 1);
  else if (strcmp(what, "publish") == 0 || strcmp(what, "look-up") == 0)
    name(what, argv[2]);
  else
    parent(argv[0], what);
  MPI_Finalize();
  return 0;
}
