#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "components/transport/tcp/endpoint.h"
#include "components/transport/tcp/flight.h"
#include "components/transport/tcp/watched.h"
#include "components/transport/tcp/wire.h"

namespace ashlar::tcp {

/// A read of this process's memory that the peer has asked for.
struct Serving {
  std::uint64_t request, region;
  const std::byte* at;
  std::uint64_t offset, left;
};

/// A connection that both sides have proved: frames in both directions, in order. The frames that it sends are those of
/// the endpoint's outbox; a rail, which carries reads alone, has an outbox of its own.
class Connection final : public Watched {
 public:
  enum class Use { kMessages, kRail };
  Connection(Interface& iface, Endpoint& peer, Descriptor socket, bool dialled, Use use = Use::kMessages);
  ~Connection() override;
  unsigned ready(std::uint32_t events) override;

  Endpoint& peer() const { return peer_; }
  bool dialled() const { return dialled_; }
  bool rail() const { return rail_; }
  bool heard() const { return heard_; }
  bool heard_bye() const { return heard_bye_; }
  std::uint64_t last_used() const { return last_used_; }
  const SocketAddress& at() const { return at_; }  // the peer's end
  /// The peer uses it, too.
  bool begun() const { return begun_; }
  bool leaving() const { return said_bye_; }
  bool leaving_for_good() const { return for_good_; }

  /// Sends the frame, for which the outbox has room.
  void send(const Frame& frame, const void* data);
  /// Makes room for it before, if there is none.
  bool make_room(std::size_t bytes);
  /// What was put into the outbox leaves now.
  void commit();
  /// Messages that the peer sends first, and has sent before over an earlier connection.
  void begin(std::uint64_t to_skip);
  /// A rail that this process has made is in use.
  void begin_rail();
  /// Sends what waits, as far as the socket takes it.
  void flush();
  /// Nothing waits to be sent over this connection.
  bool sent_all() const;
  /// Nothing is under way in any direction.
  bool quiet() const;
  bool is_serving() const { return !serving_.empty() || chunk_.left != 0; }
  /// Of memory that is still exposed.
  bool is_serving_exposed() const { return !serving_.empty() || (chunk_.left != 0 && chunk_.region != 0); }

  /// This direction ends; the peer answers alike. `for_good`: the process wants nothing more of the peer.
  void say_bye(bool for_good);

  /// The region is no longer exposed: its bytes are not touched after this.
  void forget_region(std::uint64_t region);
  /// A read of it that the peer has asked for, and that has to be refused now; false: there is none.
  bool take_serving_of(std::uint64_t region, std::uint64_t* request);
  /// The memory of a get is no longer to be written.
  void forget_get(std::uint64_t request);

 private:
  struct Chunk {  // bytes of user memory that leave without a copy
    const std::byte* at = nullptr;
    std::uint64_t left = 0;
    std::uint64_t after = 0;  // bytes that wait in front of it
    std::uint64_t region = 0;
  };
  struct Direct {             // bytes that arrive in user memory without a copy
    std::byte* to = nullptr;  // nullptr: dropped
    std::uint64_t left = 0;
    std::uint64_t request = 0;
  };

  void ask_if_due();
  void next_chunk();
  void send_now();
  std::size_t may_leave() const;
  unsigned receive();
  void pause();
  std::size_t parse(const std::byte* bytes, std::size_t count, unsigned* events);
  bool take(const Frame& frame, const std::byte* data, unsigned* events);
  bool on_chosen(const Frame& frame, const std::byte* data);
  void on_message(const Frame& frame, const std::byte* data);
  void serve(const Frame& frame, const std::byte* data);
  void fit_flight();
  void arrived(std::uint64_t bytes);
  bool end(const char* reason);
  void update_watch();
  void finish_if_over();

  Interface& iface_;
  Endpoint& peer_;
  const bool dialled_, rail_;
  bool heard_ = false, heard_bye_ = false, said_bye_ = false, for_good_ = false;
  bool begun_, heard_over_ = false, said_over_ = false;
  bool write_failed_ = false, to_flush_ = false;
  bool owes_ = false, is_owing_ = false;  // an acknowledgement; is among the interface's owing ones
  std::uint32_t burst_ = 0, burst_round_ = 0;
  std::uint64_t last_used_ = 0;
  std::uint64_t to_skip_ = 0;  // messages
  std::size_t until_bye_ = 0;  // bytes that may leave yet; nothing leaves behind kBye
  const SocketAddress at_;
  const std::unique_ptr<Outbox> own_out_;
  Outbox& out_;
  std::deque<Serving> serving_;
  Flight flight_;
  Chunk chunk_;
  std::vector<std::byte> chunk_copy_;
  Direct direct_;
  std::vector<std::byte> carry_;  // the beginning of a frame
  friend class Interface;
};

}  // namespace ashlar::tcp
