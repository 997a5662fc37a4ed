#include "mpiexec/frames.h"

#include "mpiexec/text.h"

namespace ashlar::mpiexec {
namespace {

/// What a frame is about; nullptr: there is no such kind.
const char* subject_of(FrameKind kind) {
  switch (kind) {
    case FrameKind::kOrder:
      return "what the job is";
    case FrameKind::kStart:
      return "the start";
    case FrameKind::kSignal:
      return "a signal";
    case FrameKind::kStop:
      return "the stop";
    case FrameKind::kEnded:
    case FrameKind::kRankEnded:
      return "a rank's end";
    case FrameKind::kFenceDone:
    case FrameKind::kFence:
      return "a fence";
    case FrameKind::kLookUp:
    case FrameKind::kWanted:
      return "a question for a record";
    case FrameKind::kRecord:
    case FrameKind::kFound:
      return "a record";
    case FrameKind::kInput:
      return "standard input";
    case FrameKind::kRoom:
      return "room for output";
    case FrameKind::kCloseStream:
    case FrameKind::kStreamEnded:
      return "the end of a stream";
    case FrameKind::kAsk:
      return "a status query";
    case FrameKind::kRefresh:
      return "a look at the ranks";
    case FrameKind::kBeat:
    case FrameKind::kBeatBack:
      return "a sign of life";
    case FrameKind::kLeave:
      return "the end of the job";
    case FrameKind::kCheck:
      return "what is to be checked";
    case FrameKind::kTryWays:
      return "the ways to be tried";
    case FrameKind::kClock:
    case FrameKind::kClockBack:
      return "the time";
    case FrameKind::kTools:
      return "that tools are to tell";
    case FrameKind::kToolPages:
      return "what tools have recorded";
    case FrameKind::kToolsSent:
      return "the end of what tools have recorded";
    case FrameKind::kStep:
      return "a step of a check";
    case FrameKind::kChecked:
      return "what a check has found";
    case FrameKind::kWays:
      return "the ways that were tried";
    case FrameKind::kReply:
      return "an answer to a rank";
    case FrameKind::kCall:
    case FrameKind::kAsks:
      return "a rank's question";
    case FrameKind::kLead:
      return "the way to a further host";
    case FrameKind::kDown:
      return "what a further host is told";
    case FrameKind::kForget:
      return "the end of the way to a further host";
    case FrameKind::kNode:
      return "the number of the host";
    case FrameKind::kToAll:
      return "what many hosts are told";
    case FrameKind::kUp:
      return "what a further host tells";
    case FrameKind::kAgentSaid:
      return "what the agent of a further host has said";
    case FrameKind::kAgentOver:
      return "the end of the agent of a further host";
    case FrameKind::kReady:
      return "that the host is ready";
    case FrameKind::kRefused:
      return "a refusal";
    case FrameKind::kStarted:
      return "a rank's start";
    case FrameKind::kOutput:
      return "output";
    case FrameKind::kRankAborted:
      return "a rank's abort";
    case FrameKind::kStates:
      return "the states of ranks";
    case FrameKind::kAccounts:
      return "the answer to a status query";
    case FrameKind::kInputRoom:
      return "room for input";
    case FrameKind::kInputClosed:
      return "the end of input";
  }
  return nullptr;
}

}  // namespace

std::string frame_words(FrameKind kind, std::size_t bytes) {
  const char* const subject = subject_of(kind);
  return text("a message of kind %u (%s; %zu bytes)", static_cast<unsigned>(kind),
              subject != nullptr ? subject : "of which there is none", bytes);
}

}  // namespace ashlar::mpiexec
