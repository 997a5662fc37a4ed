/* Stands for another implementation: its library has a name of its own, and it finds no job. */
int MPI_Init(int* argc, char*** argv) {
  (void)argc, (void)argv;
  return 0;
}
