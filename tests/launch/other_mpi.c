/* Stands for another implementation, which finds no job: with a name of its own, or that of the standard ABI. */
int MPI_Init(int* argc, char*** argv) {
  (void)argc, (void)argv;
  return 0;
}
