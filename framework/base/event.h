#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

/// Events that tools hear of through MPI_T (MPI-5.0, 15.3.8). A room declares an event type with its fields, and raises
/// it where it happens:
///
///   if (event::heard(message_unexpected)) [[unlikely]] event::raise(message_unexpected, &comm, {source, tag, bytes});
///
/// A site to which no tool listens costs one load. What is raised goes into a queue of the thread, with its time, and
/// is delivered when the thread gives up its last lane lock, so that no tool runs under a lock of ours. A thread that
/// holds no lane lock calls deliver() afterwards. docs/tools.md says how to add a type.
///
/// Tool components (framework/plugin/tool.h) hear of an event at its site, through the observer: they call no MPI
/// function, so no queue has to keep the event from them.
namespace ashlar::event {

inline constexpr std::size_t kMostFields = 8;

/// How a field is shown: MPI_INT, MPI_UNSIGNED_LONG_LONG. A handle is a kWord with the ABI's value of it.
enum class FieldType : std::uint8_t { kInt, kWord };

struct Field {
  const char* name;
  FieldType type = FieldType::kWord;
};

/// MPI_T's numbers for what an event belongs to.
enum class Bind : std::uint8_t { kNoObject = 1, kComm = 2 };

/// A kind of event. Constant but for the listeners; it lives as long as the library.
struct Type {
  const char* name;  // "p2p.message_matched"
  const char* help;  // says what the fields are
  std::span<const Field> fields;
  std::uint8_t verbosity;  // param_row.h
  Bind bind = Bind::kNoObject;
  /// The words for the values of the fields of type kInt, ended by null; null: they are numbers.
  const char* const* choices = nullptr;

  /// Registrations with a callback, and kObserved while the observer wants this type.
  std::atomic<std::uint32_t> listeners{0};
  static constexpr std::uint32_t kObserved = 1u << 31;
  std::uint32_t observed_as = 0;          // its number for the observer
  std::atomic<std::uint64_t> dropped{0};  // found no room in a queue, and no dropped handler knows yet
};

/// What was raised. `object` is what the event is bound to.
struct Record {
  Type* type = nullptr;
  std::uint64_t time = 0;  // ns, of CLOCK_MONOTONIC
  const void* object = nullptr;
  std::uint64_t values[kMostFields] = {};
};

/// Whether any tool listens: the one load of a site.
inline bool heard(const Type& type) { return type.listeners.load(std::memory_order_relaxed) != 0; }

/// Shows the observer an event of `type`, whose fields have `values`, and queues it for what listens. Any thread, under
/// any lock; allocates the thread's queue once.
[[gnu::cold]] void raise(Type& type, const void* object, std::initializer_list<std::uint64_t> values) noexcept;

/// Delivers what the calling thread has raised, unless it holds a lane's lock or a Hold: then that comes later.
inline void deliver() noexcept;

/// While it exists, the thread delivers nothing: around code that holds other locks of ours. Then it delivers.
class Hold {
 public:
  Hold() noexcept;
  ~Hold();
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;
};

/// The restrictions under which callbacks run, with MPI_T's values.
enum class Safety : std::uint8_t { kNone = 0x00, kThreadSafe = 0x0f };

/// Takes each record on the raising thread, which holds no lock of ours. `lost`: dropped counters are not zero.
using Sink = void (*)(const Record& record, Safety safety) noexcept;

/// Takes each event of the types with kObserved at its site: on the thread that raises it, under the locks that are
/// held there. Waits for nothing and raises nothing.
using Observer = void (*)(void* self, const Type& type, std::span<const std::uint64_t> values) noexcept;
/// The one observer from now on; nullptr: none. No type has kObserved while it changes, and no thread is in raise().
void observe(Observer observer, void* self) noexcept;

/// Every event type of the kernel's rooms, in an order that never changes while the program runs. A room with an
/// events.h has its lines in framework/mpit/kernel_events.cc, the one place that sees every room.
std::span<Type* const> kernel_types();

/// From now on events are delivered to `sink`, and lane locks look for them. For good.
void listen(Sink sink) noexcept;
/// How many events a thread's queue holds from now on; a queue that exists keeps its size until it is empty.
void set_queue_capacity(std::size_t events) noexcept;

/// What all threads count of their queues.
struct Counters {
  std::atomic<std::uint64_t> raised{0}, dropped{0}, queued{0}, most{0};
};
extern constinit Counters counters;

/// LaneLock calls these from the first listen() on.
void entered_lane() noexcept;
void left_lane() noexcept;
[[gnu::cold]] void deliver_now() noexcept;

extern std::atomic<bool> listened;
inline void deliver() noexcept {
  if (listened.load(std::memory_order_relaxed)) [[unlikely]]
    deliver_now();
}

}  // namespace ashlar::event
