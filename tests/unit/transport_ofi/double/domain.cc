#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "tests/unit/transport_ofi/double/objects.h"

// Fabric, domain, regions, completion queue, table of addresses; and how endpoints are made of them.
namespace ofi_double {
namespace {

std::uint64_t next_key = 0x5000, next_address = 0x1000;

template <class T>
int delete_object(fid* object) {
  delete reinterpret_cast<T*>(object);
  return 0;
}

int no_bind(fid*, fid*, std::uint64_t) { return -FI_ENOSYS; }
int no_control(fid*, int, void*) { return -FI_ENOSYS; }

template <class T>
fi_ops* functions(int (*bind)(fid*, fid*, std::uint64_t) = no_bind, int (*control)(fid*, int, void*) = no_control,
                  int (*close)(fid*) = delete_object<T>) {
  static fi_ops all = table<fi_ops>([=](auto& made) {
    made.close = close;
    made.bind = bind;
    made.control = control;
  });
  return &all;
}

int close_region(fid* object) {
  const auto locked = guard();
  auto* const region = reinterpret_cast<Region*>(object);
  if (region->used != 0) broken("a region is closed while an operation uses it");
  region->domain->regions.erase(region->mr.key);
  --ofi_double_seen.regions;
  delete region;
  return 0;
}

int close_domain(fid* object) {
  auto* const domain = reinterpret_cast<Domain*>(object);
  if (!domain->regions.empty()) broken("a domain is closed that has regions");
  delete domain;
  return 0;
}

int bind_region(fid* object, fid* endpoint, std::uint64_t) {
  reinterpret_cast<Region*>(object)->endpoint = reinterpret_cast<Endpoint*>(endpoint);
  return 0;
}

int enable_region(fid* object, int command, void*) {
  auto& region = *reinterpret_cast<Region*>(object);
  if (command != FI_ENABLE || region.endpoint == nullptr) return -FI_EINVAL;
  region.usable = true;
  return 0;
}

int register_memory(fid* object, const void* memory, std::size_t length, std::uint64_t access, std::uint64_t,
                    std::uint64_t wanted, std::uint64_t, fid_mr** out, void*) {
  const auto locked = guard();
  auto& domain = *reinterpret_cast<Domain*>(object);
  if (ofi_double_seen.regions >= ofi_double_settings.regions) return -FI_ENOMEM;
  const bool own = (domain.mr_mode & FI_MR_PROV_KEY) != 0;
  const std::uint64_t key = own ? next_key += 7 : wanted;
  if (domain.regions.count(key) != 0) return -FI_ENOKEY;
  auto* const region = new Region;
  region->domain = &domain;
  region->base = static_cast<const std::byte*>(memory);
  region->length = length;
  region->access = access;
  region->usable = (domain.mr_mode & FI_MR_ENDPOINT) == 0;
  region->mr.fid.fclass = FI_CLASS_MR;
  region->mr.fid.ops = functions<Region>(bind_region, enable_region, close_region);
  region->mr.mem_desc = region;
  region->mr.key = key;
  domain.regions[key] = region;
  ++ofi_double_seen.regions;
  ++ofi_double_seen.registrations;
  *out = &region->mr;
  return 0;
}

ssize_t read_completions(fid_cq* queue, void* to, std::size_t most) {
  const auto locked = guard();
  auto& completions = *reinterpret_cast<Completions*>(queue);
  if (completions.endpoint != nullptr) {
    ++ofi_double_seen.card_looks[completions.endpoint->domain->card];
    completions.endpoint->progress();
  }
  auto* const entries = static_cast<fi_cq_tagged_entry*>(to);
  std::size_t count = 0;
  while (count < most && !completions.done.empty() && completions.done.front().err == 0) {
    const fi_cq_err_entry& entry = completions.done.front();
    entries[count++] = {.op_context = entry.op_context,
                        .flags = entry.flags,
                        .len = entry.len,
                        .buf = entry.buf,
                        .data = entry.data,
                        .tag = entry.tag};
    completions.done.pop_front();
  }
  if (count != 0) return static_cast<ssize_t>(count);
  return completions.done.empty() ? -FI_EAGAIN : -FI_EAVAIL;
}

ssize_t read_error(fid_cq* queue, fi_cq_err_entry* to, std::uint64_t) {
  const auto locked = guard();
  auto& completions = *reinterpret_cast<Completions*>(queue);
  if (completions.done.empty() || completions.done.front().err == 0) return -FI_EAGAIN;
  *to = completions.done.front();
  completions.done.pop_front();
  return 1;
}

const char* error_text(fid_cq*, int, const void*, char*, std::size_t) { return "as the test wants it"; }

int tell_descriptor(fid* queue, int command, void* out) {
  const int descriptor = reinterpret_cast<Completions*>(queue)->descriptor;
  if (command != FI_GETWAIT || descriptor < 0) return -FI_ENOSYS;
  *static_cast<int*>(out) = descriptor;
  return 0;
}

int close_completions(fid* queue) {
  auto* const completions = reinterpret_cast<Completions*>(queue);
  if (completions->descriptor >= 0) close(completions->descriptor);
  delete completions;
  return 0;
}

int open_completions(fid_domain*, fi_cq_attr* attributes, fid_cq** out, void*) {
  const bool sleeps = attributes->wait_obj == FI_WAIT_FD;
  if ((sleeps && ofi_double_settings.wakes == 0) || attributes->format != FI_CQ_FORMAT_TAGGED) return -FI_ENOSYS;
  static fi_ops_cq all = table<fi_ops_cq>([](auto& made) {
    made.read = read_completions;
    made.readerr = read_error;
    made.strerror = error_text;
  });
  auto* const completions = new Completions;
  completions->room = attributes->size;
  if (sleeps) completions->descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  completions->fid.fid.fclass = FI_CLASS_CQ;
  completions->fid.fid.ops = functions<Completions>(no_bind, tell_descriptor, close_completions);
  completions->fid.ops = &all;
  *out = &completions->fid;
  return 0;
}

int insert(fid_av* table, const void* address, std::size_t count, fi_addr_t* at, std::uint64_t, void*) {
  auto& all = reinterpret_cast<Addresses*>(table)->all;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t one = 0;
    std::memcpy(&one, static_cast<const std::byte*>(address) + i * sizeof one, sizeof one);
    at[i] = all.size();
    all.push_back(one);
  }
  return static_cast<int>(count);
}

int remove(fid_av* table, fi_addr_t* at, std::size_t count, std::uint64_t) {
  auto& addresses = *reinterpret_cast<Addresses*>(table);
  for (std::size_t i = 0; i < count; ++i) {
    (void)addresses.at(at[i]);
    addresses.all[at[i]] = 0;
    ++ofi_double_seen.removed;
  }
  return 0;
}

int open_addresses(fid_domain*, fi_av_attr*, fid_av** out, void*) {
  static fi_ops_av all = table<fi_ops_av>([](auto& made) {
    made.insert = insert;
    made.remove = remove;
  });
  auto* const addresses = new Addresses;
  addresses->fid.fid.fclass = FI_CLASS_AV;
  addresses->fid.fid.ops = functions<Addresses>();
  addresses->fid.ops = &all;
  *out = &addresses->fid;
  return 0;
}

int close_endpoint(fid* object) {
  const auto locked = guard();
  auto* const endpoint = reinterpret_cast<Endpoint*>(object);
  for (const auto& [key, region] : endpoint->domain->regions)
    if (region->endpoint == endpoint && (region->access & (FI_REMOTE_READ | FI_REMOTE_WRITE)) != 0) return -FI_EBUSY;
  --ofi_double_seen.endpoints;
  endpoints().erase(endpoint->address);
  for (const Operation& operation : endpoint->started)
    if (operation.region != nullptr) --operation.region->used;
  for (const Receive& receive : endpoint->receives)
    if (receive.region != nullptr) --receive.region->used;
  for (const SlowMessage& message : endpoint->slow)
    if (message.to.region != nullptr && message.to.ends()) --message.to.region->used;
  for (const TaggedReceive& receive : endpoint->tagged_receives)
    if (receive.region != nullptr) --receive.region->used;
  if (endpoint->completions != nullptr) endpoint->completions->endpoint = nullptr;
  delete endpoint;
  return 0;
}

int bind_endpoint(fid* object, fid* what, std::uint64_t) {
  auto& endpoint = *reinterpret_cast<Endpoint*>(object);
  if (what->fclass == FI_CLASS_AV) endpoint.peers = reinterpret_cast<Addresses*>(what);
  if (what->fclass == FI_CLASS_CQ) {
    endpoint.completions = reinterpret_cast<Completions*>(what);
    endpoint.completions->endpoint = &endpoint;
  }
  return 0;
}

int enable_endpoint(fid* object, int command, void*) {
  const auto locked = guard();
  auto& endpoint = *reinterpret_cast<Endpoint*>(object);
  if (command != FI_ENABLE || endpoint.peers == nullptr || endpoint.completions == nullptr) return -FI_EINVAL;
  endpoint.address = next_address += 3;
  endpoints()[endpoint.address] = &endpoint;
  return 0;
}

int name(fid* object, void* to, std::size_t* length) {
  const auto& endpoint = *reinterpret_cast<Endpoint*>(object);
  const bool fits = *length >= sizeof endpoint.address;
  if (fits) std::memcpy(to, &endpoint.address, sizeof endpoint.address);
  *length = sizeof endpoint.address;
  return fits ? 0 : -FI_ETOOSMALL;
}

int open_endpoint(fid_domain* domain, fi_info*, fid_ep** out, void*) {
  static fi_ops_cm all = table<fi_ops_cm>([](auto& made) { made.getname = name; });
  auto* const endpoint = new Endpoint;
  endpoint->domain = reinterpret_cast<Domain*>(domain);
  endpoint->fid.fid.fclass = FI_CLASS_EP;
  endpoint->fid.fid.ops = functions<Endpoint>(bind_endpoint, enable_endpoint, close_endpoint);
  ++ofi_double_seen.endpoints;
  endpoint->fid.cm = &all;
  give_functions(*endpoint);
  *out = &endpoint->fid;
  return 0;
}

int open_domain(fid_fabric*, fi_info* info, fid_domain** out, void*) {
  static fi_ops_domain all = table<fi_ops_domain>([](auto& made) {
    made.av_open = open_addresses;
    made.cq_open = open_completions;
    made.endpoint = open_endpoint;
  });
  static fi_ops_mr memory = table<fi_ops_mr>([](auto& made) { made.reg = register_memory; });
  auto* const domain = new Domain;
  domain->mr_mode = info->domain_attr->mr_mode;
  if (std::sscanf(info->domain_attr->name, "memory%u", &domain->card) == 1) ++domain->card;
  domain->fid.fid.fclass = FI_CLASS_DOMAIN;
  domain->fid.fid.ops = functions<Domain>(no_bind, no_control, close_domain);
  domain->fid.ops = &all;
  domain->fid.mr = &memory;
  *out = &domain->fid;
  return 0;
}

int try_wait(fid_fabric*, fid** queues, int) {
  const auto locked = guard();
  const auto& completions = *reinterpret_cast<const Completions*>(queues[0]);
  if (completions.descriptor < 0) return -FI_EAGAIN;
  if (ofi_double_settings.wakes == 2) return 0;
  eventfd_t raised;
  (void)eventfd_read(completions.descriptor, &raised);
  const Endpoint* const endpoint = completions.endpoint;
  const bool idle =
      completions.done.empty() &&
      (endpoint == nullptr || (endpoint->started.empty() && endpoint->arrived.empty() && endpoint->slow.empty()));
  return idle ? 0 : -FI_EAGAIN;
}

}  // namespace

void Completions::wake() const {
  if (descriptor >= 0 && ofi_double_settings.wakes == 1) (void)eventfd_write(descriptor, 1);
}

int open_fabric(fid_fabric** out) {
  static fi_ops_fabric all = table<fi_ops_fabric>([](auto& made) {
    made.domain = open_domain;
    made.trywait = try_wait;
  });
  auto* const fabric = new fid_fabric;
  *fabric = {};
  fabric->fid.fclass = FI_CLASS_FABRIC;
  fabric->fid.ops = functions<fid_fabric>();
  fabric->ops = &all;
  *out = fabric;
  return 0;
}

}  // namespace ofi_double
