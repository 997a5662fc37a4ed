#pragma once

/// Threads below MPI_THREAD_MULTIPLE, where the lanes have no locks: a program that breaks its promise gets an error as
/// far as it is noticed, rather than left to crash. Two threads that wait at once are always noticed; with
/// check.threads every call is looked at.
namespace ashlar::runtime {

/// Once, by the thread that initialises MPI.
void watch_threads(int thread_level, bool check);

}  // namespace ashlar::runtime
