#pragma once
#include <netinet/in.h>

#include <cstdint>
#include <string>

#include "components/transport/common/wire.h"
#include "framework/base/descriptor.h"

namespace ashlar::network {

/// Whether a process is there. A library may say of a peer that has ended what it says of one that computes: try again.
/// So a process listens on a TCP port and never talks there. A peer that has doubts connects to the port: the system of
/// the process's host answers for it, also while the process computes, and refuses once it has ended.
class Liveness {
 public:
  enum class Answer { kNone, kPending, kThere, kRefused, kSilent };

  /// Listens on the address of `source`; without one (nullptr) no one can ask.
  void open(const sockaddr* source);
  const HostAddress& own() const { return own_; }
  /// Lets those go that have asked.
  void let_go();

  /// One question at a time. kThere and kRefused may come at once.
  Answer ask(const HostAddress& whom);
  /// How the question stands; `silent`: it is not waited for any longer. All but kPending end it.
  Answer look(bool silent);
  bool asking() const { return static_cast<bool>(question_); }
  /// Of kThere: ns between the hosts; 0: the system does not tell.
  std::uint64_t round_trip() const { return round_trip_; }
  /// Why there was no kThere.
  const std::string& reason() const { return reason_; }

 private:
  Answer settle(int error);

  Descriptor door_, question_;
  HostAddress own_ = {};
  std::uint64_t round_trip_ = 0;
  std::string reason_;
};

}  // namespace ashlar::network
