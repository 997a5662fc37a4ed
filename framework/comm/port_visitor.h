#pragma once
#include <cstdint>
#include <utility>

#include "framework/base/descriptor.h"
#include "framework/comm/channel.h"
#include "framework/comm/port_stream.h"
#include "framework/comm/port_wire.h"

namespace ashlar::comm {

/// A process that has knocked at a port, until it is taken or turned away. Never blocks.
class Visitor {
 public:
  enum class From { kThisHost, kNetwork };

  Visitor(Descriptor socket, From from, std::uint64_t until_ns)
      : stream_(std::move(socket)),
        stage_(from == From::kNetwork ? Stage::kNetwork : Stage::kLocal),
        until_(until_ns) {}

  /// Whether it has the key.
  bool known() const { return stage_ == Stage::kKnown; }
  /// Goes on. False: it is turned away.
  bool hear(const PortName& port);
  /// Tells it that it is welcome. False: it has given up meanwhile.
  bool welcome(const PortName& port, Channel* channel);

 private:
  enum class Stage { kLocal, kNetwork, kFilling, kProof, kKnown };

  bool answer(const PortName& port);

  PortStream stream_;
  Stage stage_;
  std::uint64_t until_;
  PortGreeting greeting_ = {};
  bool sealed_ = false;
};

}  // namespace ashlar::comm
