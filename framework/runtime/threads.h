#pragma once

/// Threads below MPI_THREAD_MULTIPLE, where the lanes have no locks: a program that breaks its promise gets an error as
/// far as it is noticed, rather than left to crash. Two threads that wait at once are always noticed; with
/// check.threads every call is looked at.
namespace ashlar::runtime {

/// Once, by the thread that initialises MPI.
void watch_threads(int thread_level, bool check);

// Which thread the lanes belong to where they have no locks. Tools ask on threads of their own at any time: while a
// process begins or ends as well, so they do not look into it.

/// From now on there are lanes, and the calling thread is the program's, unless there were some: then the level may
/// rise.
void lanes_begin(int thread_level);
void lanes_end();
/// Whether the calling thread may enter lanes: with threads it takes their locks, without it is the one that may call
/// MPI. Of MPI_THREAD_SERIALIZED programs that is not known.
bool may_enter_lanes();
/// Whether it may look into what they hold: with MPI_THREAD_SERIALIZED the program sees to that.
bool may_look_into_lanes();

}  // namespace ashlar::runtime
