#pragma once
#include <cstdint>
#include <vector>

#include "components/transport/tcp/endpoint.h"
#include "components/transport/tcp/watched.h"
#include "components/transport/tcp/wire.h"

namespace ashlar::tcp {

/// A connection that both sides have proved: frames in both directions, in order.
class Connection final : public Watched {
 public:
  Connection(Interface& iface, Endpoint& peer, Descriptor socket, bool dialled);
  ~Connection() override;
  unsigned ready(std::uint32_t events) override;

  Endpoint& peer() const { return peer_; }
  bool dialled() const { return dialled_; }
  bool heard() const { return heard_; }
  bool heard_bye() const { return heard_bye_; }
  std::uint64_t last_used() const { return last_used_; }
  const std::string& at() const { return at_; }

  /// Sends a frame: OK or AGAIN.
  ashlar_result send(const Frame& frame, const void* data);
  /// Room for the payload of `frame`, or nullptr: AGAIN. commit() or retract() has to follow.
  std::byte* reserve(const Frame& frame);
  void commit();
  void retract(const Frame& frame);
  /// What waited for the connection leaves first.
  void begin(Stream waiting);
  /// Sends what waits, as far as the socket takes it.
  void flush();
  /// Nothing waits to be sent.
  bool sent_all() const { return out_.empty() && chunk_.left == 0; }
  /// Nothing is under way in any direction.
  bool quiet() const;

  /// The last frame of this direction; the peer answers with its last one.
  void say_bye();
  /// Not read until unparked: an older connection has to end first.
  void park(bool parked);

  /// The region is no longer exposed: its bytes are not touched after this.
  void forget_region(std::uint64_t region);
  /// The memory of a get is no longer to be written.
  void forget_get(std::uint64_t request);

 private:
  struct Chunk {  // bytes of user memory that leave without a copy
    const std::byte* at = nullptr;
    std::uint64_t left = 0;
    std::uint64_t after = 0;  // bytes of out_ in front of it
    std::uint64_t region = 0;
  };
  struct Direct {             // bytes that arrive in user memory without a copy
    std::byte* to = nullptr;  // nullptr: dropped
    std::uint64_t left = 0;
    std::uint64_t request = 0;
  };

  bool room_for(std::size_t bytes);
  void next_chunk();
  ashlar_result send_now(const Frame& frame, const void* data);
  void queued(std::size_t bytes);
  unsigned receive();
  std::size_t parse(const std::byte* bytes, std::size_t count, unsigned* events);
  bool take(const Frame& frame, const std::byte* data, unsigned* events);
  void serve(const Frame& frame, const std::byte* data);
  void arrived(std::uint64_t bytes);
  bool end(const char* reason);
  void update_watch();
  void finish_if_over();

  Interface& iface_;
  Endpoint& peer_;
  const bool dialled_;
  bool heard_ = false, heard_bye_ = false, said_bye_ = false, shut_ = false;
  bool parked_ = false, write_failed_ = false, to_flush_ = false;
  std::uint32_t burst_ = 0, burst_round_ = 0;
  std::uint64_t last_used_ = 0;
  const std::string at_;  // the peer's address
  Stream out_;
  Chunk chunk_;
  std::vector<std::byte> chunk_copy_;
  Direct direct_;
  std::vector<std::byte> carry_;  // the beginning of a frame
  friend class Interface;
};

}  // namespace ashlar::tcp
