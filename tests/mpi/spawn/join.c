/* Ports, names and sockets between processes of one job: the calls mean the same there as between jobs. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "family.h"

static void ports(void) {
  char name[MPI_MAX_PORT_NAME], other[MPI_MAX_PORT_NAME];
  MUST(MPI_Open_port(MPI_INFO_NULL, name));
  MUST(MPI_Open_port(MPI_INFO_NULL, other));
  CHECK(strcmp(name, other) != 0);
  MUST(MPI_Close_port(other));
  CHECK_EQ(class_of(MPI_Close_port(other)), MPI_ERR_PORT);
  CHECK_EQ(class_of(MPI_Close_port("nonsense")), MPI_ERR_PORT);
  MPI_Comm inter = MPI_COMM_WORLD;
  /* A closed one, one with another key, and no port at all. */
  CHECK_EQ(class_of(MPI_Comm_connect(other, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter)), MPI_ERR_PORT);
  CHECK(inter == MPI_COMM_NULL);
  CHECK_EQ(class_of(MPI_Comm_connect("", MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter)), MPI_ERR_PORT);
  CHECK_EQ(class_of(MPI_Comm_accept(other, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter)), MPI_ERR_PORT);
  MUST(MPI_Close_port(name));
}

static void names(void) {
  char port[MPI_MAX_PORT_NAME], found[MPI_MAX_PORT_NAME], service[64];
  snprintf(service, sizeof service, "a service %d", check_rank);
  MUST(MPI_Open_port(MPI_INFO_NULL, port));
  CHECK_EQ(class_of(MPI_Lookup_name(service, MPI_INFO_NULL, found)), MPI_ERR_NAME);
  CHECK_EQ(class_of(MPI_Unpublish_name(service, MPI_INFO_NULL, port)), MPI_ERR_SERVICE);
  MUST(MPI_Publish_name(service, MPI_INFO_NULL, port));
  CHECK_EQ(class_of(MPI_Publish_name(service, MPI_INFO_NULL, port)), MPI_ERR_SERVICE);
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  snprintf(service, sizeof service, "a service %d", (check_rank + 1) % check_size);
  MUST(MPI_Lookup_name(service, MPI_INFO_NULL, found));
  CHECK_EQ(strcmp(found, port) == 0, check_size == 1);
  MUST(MPI_Barrier(MPI_COMM_WORLD));
  snprintf(service, sizeof service, "a service %d", check_rank);
  CHECK_EQ(class_of(MPI_Unpublish_name(service, MPI_INFO_NULL, "another port")), MPI_ERR_SERVICE);
  MUST(MPI_Unpublish_name(service, MPI_INFO_NULL, port));
  CHECK_EQ(class_of(MPI_Lookup_name(service, MPI_INFO_NULL, found)), MPI_ERR_NAME);
  MUST(MPI_Close_port(port));
}

/* Rank 0 accepts from all others at once, three times. */
static void accept_and_connect(void) {
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Comm others, inter;
  MUST(MPI_Comm_split(MPI_COMM_WORLD, check_rank == 0 ? 0 : 1, 0, &others));
  if (check_rank == 0) MUST(MPI_Open_port(MPI_INFO_NULL, port));
  MUST(MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD));
  for (int i = 0; i < 3; i++) {
    if (check_rank == 0)
      MUST(MPI_Comm_accept(port, MPI_INFO_NULL, 0, others, &inter));
    else
      MUST(MPI_Comm_connect(check_rank == 1 ? port : NULL, MPI_INFO_NULL, 0, others, &inter));
    greet(inter);
    MUST(MPI_Comm_disconnect(&inter));
  }
  if (check_rank == 0) MUST(MPI_Close_port(port));
  MUST(MPI_Comm_free(&others));
}

/* Ranks 0 and 1 with a TCP connection between them; rank 0 is reached at `address`. */
static void join_two(const char* address) {
  struct sockaddr_in at = {.sin_family = AF_INET};
  socklen_t length = sizeof at;
  int listener = -1, end = -1;
  if (check_rank == 0) {
    listener = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(listener >= 0 && bind(listener, (struct sockaddr*)&at, sizeof at) == 0 && listen(listener, 1) == 0);
    CHECK_EQ(getsockname(listener, (struct sockaddr*)&at, &length), 0);
  }
  MUST(MPI_Bcast(&at.sin_port, sizeof at.sin_port, MPI_BYTE, 0, MPI_COMM_WORLD));
  if (check_rank == 0) end = accept(listener, NULL, NULL);
  if (check_rank == 1) {
    CHECK_EQ(inet_pton(AF_INET, address, &at.sin_addr), 1);
    end = socket(AF_INET, SOCK_STREAM, 0);
    CHECK_EQ(connect(end, (struct sockaddr*)&at, sizeof at), 0);
  }
  if (check_rank < 2) {
    MPI_Comm inter;
    int remote = 0;
    char words[6] = "quiet", heard[6] = "";
    CHECK(end >= 0);
    MUST(MPI_Comm_join(end, &inter));
    MUST(MPI_Comm_remote_size(inter, &remote));
    CHECK_EQ(remote, 1);
    greet(inter);
    MUST(MPI_Comm_disconnect(&inter));
    /* The socket is as it was. */
    CHECK_EQ(write(end, words, sizeof words), (ssize_t)sizeof words);
    CHECK_EQ(recv(end, heard, sizeof heard, MSG_WAITALL), (ssize_t)sizeof heard);
    CHECK(strcmp(words, heard) == 0, "%s", heard);
  }
  if (end >= 0) close(end);
  if (listener >= 0) close(listener);
}

/* A socket whose other end is closed. */
static void sockets(void) {
  int ends[2] = {-1, -1};
  if (check_rank == 0) CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  char message[8] = "quiet";
  if (check_rank == 0) {
    CHECK_EQ(write(ends[0], message, 5), 5);
    CHECK_EQ(read(ends[1], message, 5), 5);
    close(ends[0]);
    MPI_Comm inter = MPI_COMM_WORLD;
    CHECK_EQ(class_of(MPI_Comm_join(ends[1], &inter)), MPI_ERR_OTHER); /* the other end is closed */
    CHECK(inter == MPI_COMM_NULL);
    close(ends[1]);
  }
}

int main(int argc, char** argv) {
  check_start(&argc, &argv);
  ports();
  names();
  if (check_size > 1) accept_and_connect();
  if (check_size > 1) join_two(argc > 1 ? argv[1] : "127.0.0.1");
  sockets();
  return check_end();
}
