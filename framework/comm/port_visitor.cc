#include "framework/comm/port_visitor.h"

#include <sys/socket.h>

#include <cstring>

#include "framework/base/clock.h"
#include "framework/base/stream_socket.h"
#include "framework/comm/ports.h"

namespace ashlar::comm {
/// The hello is there: it may be that of a stranger who guesses.
bool Visitor::answer(const PortName& port) {
  std::memcpy(&greeting_.hello, stream_.in.data(), sizeof greeting_.hello);
  stream_.in.clear();
  if (greeting_.hello.magic != kNetworkMagic || greeting_.hello.place != port.place) return false;
  if (!draw(greeting_.answer.data(), greeting_.answer.size()).ok()) return false;
  const Challenge challenge = {
      .magic = kNetworkMagic, .nonce = greeting_.answer, .proof = greeting_.proof(port.key, PortSide::kAccepting)};
  stream_.out.assign(reinterpret_cast<const char*>(&challenge), sizeof challenge);
  stream_.out.resize(sizeof challenge + kFillingBytes);
  return true;
}

bool Visitor::hear(const PortName& port) {
  if (known()) return true;
  PortStream::Read read = PortStream::Read::kAll;
  if (stage_ == Stage::kLocal && (read = stream_.collect(sizeof(LocalHello))) == PortStream::Read::kAll) {
    LocalHello hello;
    std::memcpy(&hello, stream_.in.data(), sizeof hello);
    if (hello.magic != kLocalMagic || !same(port.key, hello.key)) return false;
    stage_ = Stage::kKnown;
  }
  if (stage_ == Stage::kNetwork && (read = stream_.collect(sizeof(NetworkHello))) == PortStream::Read::kAll) {
    if (!answer(port)) return false;
    stage_ = Stage::kFilling;
  }
  if (!stream_.flush()) return false;
  if (stage_ == Stage::kFilling && (read = stream_.drop(kFillingBytes)) == PortStream::Read::kAll)
    stage_ = Stage::kProof;
  if (stage_ == Stage::kProof && (read = stream_.collect(sizeof(Digest))) == PortStream::Read::kAll) {
    Digest proof;
    std::memcpy(proof.data(), stream_.in.data(), proof.size());
    if (!same(proof, greeting_.proof(port.key, PortSide::kCalling))) return false;
    stage_ = Stage::kKnown;
    sealed_ = true;
  }
  return read == PortStream::Read::kAll || (read == PortStream::Read::kSome && now_ns() < until_);
}

bool Visitor::welcome(const PortName& port, Channel* channel) {
  char byte;
  const ssize_t more = recv(stream_.socket.get(), &byte, 1, MSG_PEEK);
  if (more == 0 || (more < 0 && !is_later(more)) || send(stream_.socket.get(), &kWelcome, 1, MSG_NOSIGNAL) != 1)
    return false;
  *channel = Channel(std::move(stream_.socket), sealed_ ? greeting_.seals(port.key, PortSide::kAccepting) : nullptr);
  return true;
}

}  // namespace ashlar::comm
