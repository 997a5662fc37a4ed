#pragma once

/// How a process has a launcher make ports known by names (MPI_Publish_name), over a connected stream socket: each
/// request is a message of texts (further_job.h), and so is the one answer to it. A name is gone with the connection
/// over which it was published. Both sides are of one build.
namespace ashlar::launch::names {

// Requests, with what follows in each.
inline constexpr char kPublish[] = "publish";      // name, port: kDone, kTaken
inline constexpr char kUnpublish[] = "unpublish";  // name, port: kDone; kNone: not published over this connection
inline constexpr char kLookUp[] = "look up";       // name: kFound with the port; kNone

inline constexpr char kDone[] = "done", kTaken[] = "taken", kNone[] = "none", kFound[] = "found";
/// To any request: this launcher was started by a process that has none, and its processes use names as that one does.
inline constexpr char kOfUser[] = "of the user";

}  // namespace ashlar::launch::names
