#pragma once
#include <netinet/in.h>

#include <cstdint>
#include <string>

#include "components/transport/ofi/wire.h"
#include "framework/base/descriptor.h"

namespace ashlar::ofi {

/// Whether a process is there. Libfabric says of a peer that has ended what it says of one that computes: try again. So
/// a process listens on a TCP port and never talks there. A peer that has doubts connects to the port: the system of
/// the process's host answers for it, also while the process computes, and refuses once it has ended.
class Liveness {
 public:
  enum class Answer { kNone, kPending, kThere, kRefused, kSilent };

  /// Listens on `source`, the provider's own address, if that is one of IP; else no one can ask.
  void open(std::uint32_t format, const void* source);
  const HostAddress& own() const { return own_; }
  /// Lets those go that have asked.
  void let_go();

  /// One question at a time. kThere and kRefused may come at once.
  Answer ask(const HostAddress& whom);
  /// How the question stands; `silent`: it is not waited for any longer. All but kPending end it.
  Answer look(bool silent);
  bool asking() const { return static_cast<bool>(question_); }
  /// Why there was no kThere.
  const std::string& reason() const { return reason_; }

 private:
  Answer settle(int error);

  Descriptor door_, question_;
  HostAddress own_ = {};
  std::string reason_;
};

}  // namespace ashlar::ofi
