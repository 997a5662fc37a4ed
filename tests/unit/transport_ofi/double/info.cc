#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/unit/transport_common/double.h"
#include "tests/unit/transport_ofi/double/objects.h"

// What libfabric exports: descriptions of providers, and the ways to its objects.
namespace ofi_double {

int open_fabric(fid_fabric** out);

namespace {

constexpr const char* kName = "double";
constexpr const char* kNameOverTcp = "double;tcp";

char* copy(const char* text) { return text == nullptr ? nullptr : strdup(text); }

template <class T>
T* copy(const T* from) {
  auto* const to = static_cast<T*>(std::calloc(1, sizeof(T)));
  if (from != nullptr) *to = *from;
  return to;
}

void read_environment() {
  ashlar::network::test::each_setting("OFI_DOUBLE", [](const char* name, unsigned long long value) {
    const auto set = [&](const char* wanted, auto* to) {
      if (std::strcmp(name, wanted) != 0) return false;
      *to = static_cast<std::remove_reference_t<decltype(*to)>>(value);
      return true;
    };
    Settings& s = ofi_double_settings;
    return set("mr_mode", &s.mr_mode) || set("inject", &s.inject) || set("sends", &s.sends) || set("again", &s.again) ||
           set("late", &s.late) || set("regions", &s.regions) || set("tag_bits", &s.tag_bits) ||
           set("multi_receive", &s.multi_receive) || set("stray", &s.stray) || set("slow_receives", &s.slow_receives) ||
           set("slow_from", &s.slow_from) || set("fail_read", &s.fail_read) || set("puts", &s.puts) ||
           set("cards", &s.cards) || set("wakes", &s.wakes);
  });
}

/// A card as libfabric describes it, at a place of the bus where no machine has one; they last as long as the process.
fid_nic* card(unsigned number) {
  struct Card {
    fid_nic nic = {};
    fi_device_attr device = {};
    fi_bus_attr bus = {};
    fi_link_attr link = {};
  };
  static std::vector<std::unique_ptr<Card>> all;
  auto made = std::make_unique<Card>();
  made->bus.bus_type = FI_BUS_PCI;
  made->bus.attr.pci = {
      .domain_id = 0xfff0, .bus_id = static_cast<std::uint8_t>(number), .device_id = 0, .function_id = 0};
  made->link.speed = number == ofi_double_settings.slow_card ? 10'000'000'000 : 200'000'000'000;
  made->link.state = number == ofi_double_settings.card_without_link ? FI_LINK_DOWN : FI_LINK_UP;
  made->nic.device_attr = &made->device;
  made->nic.bus_attr = &made->bus;
  made->nic.link_attr = &made->link;
  all.push_back(std::move(made));
  return &all.back()->nic;
}

fi_info* duplicate(const fi_info* from) {
  fi_info* const to = copy(from);
  to->next = nullptr;
  to->tx_attr = copy(from != nullptr ? from->tx_attr : nullptr);
  to->rx_attr = copy(from != nullptr ? from->rx_attr : nullptr);
  to->ep_attr = copy(from != nullptr ? from->ep_attr : nullptr);
  to->domain_attr = copy(from != nullptr ? from->domain_attr : nullptr);
  to->fabric_attr = copy(from != nullptr ? from->fabric_attr : nullptr);
  to->domain_attr->name = copy(to->domain_attr->name);
  to->fabric_attr->name = copy(to->fabric_attr->name);
  to->fabric_attr->prov_name = copy(to->fabric_attr->prov_name);
  return to;
}

/// What is listed for the hints: card `number` from 1 on, or the device that is no card.
fi_info* describe(const fi_info& hints, unsigned number) {
  fi_info* const info = duplicate(nullptr);
  info->caps = hints.caps;
  info->ep_attr->mem_tag_format =
      ofi_double_settings.tag_bits == 0 ? 0 : 0xaaaaaaaaaaaaaaaa >> (64 - ofi_double_settings.tag_bits);
  info->domain_attr->cq_data_size = hints.domain_attr->cq_data_size;
  info->mode = hints.mode & FI_CONTEXT2;
  info->addr_format = FI_FORMAT_UNSPEC;
  info->ep_attr->type = FI_EP_RDM;
  info->ep_attr->max_msg_size = ofi_double_settings.longest;
  info->domain_attr->name = strdup(number == 0 ? "memory" : ("memory" + std::to_string(number - 1)).c_str());
  info->domain_attr->mr_mode = ofi_double_settings.mr_mode;
  info->domain_attr->resource_mgmt = FI_RM_ENABLED;
  info->domain_attr->av_type = FI_AV_TABLE;
  info->domain_attr->data_progress = ofi_double_settings.puts != 0 ? FI_PROGRESS_AUTO : FI_PROGRESS_MANUAL;
  info->fabric_attr->name = strdup("process");
  const char* const wanted = hints.fabric_attr->prov_name;
  info->fabric_attr->prov_name = strdup(wanted != nullptr ? wanted : kName);
  info->tx_attr->size = ofi_double_settings.sends;
  info->tx_attr->inject_size = ofi_double_settings.inject;
  info->rx_attr->size = 1024;
  info->tx_attr->msg_order = info->rx_attr->msg_order = FI_ORDER_SAS;
  if (number != 0) info->nic = card(number);
  return info;
}

int import(fid*, fid* of_the_user, std::uint64_t) {
  ++(of_the_user->fclass == FI_CLASS_LOG ? ofi_double_seen.logs : ofi_double_seen.monitors);
  return 0;
}

}  // namespace
}  // namespace ofi_double

extern "C" {

ofi_double::Settings ofi_double_settings;
ofi_double::Seen ofi_double_seen;

fi_info* fi_dupinfo(const fi_info* info) { return ofi_double::duplicate(info); }

void fi_freeinfo(fi_info* info) {
  while (info != nullptr) {
    fi_info* const next = info->next;
    std::free(info->domain_attr->name);
    std::free(info->fabric_attr->name);
    std::free(info->fabric_attr->prov_name);
    std::free(info->tx_attr);
    std::free(info->rx_attr);
    std::free(info->ep_attr);
    std::free(info->domain_attr);
    std::free(info->fabric_attr);
    std::free(info);
    info = next;
  }
}

int fi_getinfo(std::uint32_t, const char*, const char*, std::uint64_t, const fi_info* hints, fi_info** out) {
  static const bool read = (ofi_double::read_environment(), true);
  static_cast<void>(read);
  const char* const wanted = hints->fabric_attr->prov_name;
  if (wanted != nullptr && std::strcmp(wanted, ofi_double::kName) != 0 &&
      std::strcmp(wanted, ofi_double::kNameOverTcp) != 0)
    return -FI_ENODATA;
  // A user that cannot do what the provider asks for does not get it.
  if ((ofi_double_settings.mr_mode & ~hints->domain_attr->mr_mode) != 0) return -FI_ENODATA;
  if ((hints->caps & FI_MULTI_RECV) != 0 && ofi_double_settings.multi_receive == 0) return -FI_ENODATA;
  if ((hints->caps & FI_TAGGED) != 0 && ofi_double_settings.tag_bits == 0) return -FI_ENODATA;
  *out = nullptr;
  for (unsigned number = ofi_double_settings.cards; number > 1; --number) {
    fi_info* const further = ofi_double::describe(*hints, number);
    further->next = std::exchange(*out, further);
  }
  fi_info* const first = ofi_double::describe(*hints, ofi_double_settings.cards != 0 ? 1 : 0);
  first->next = std::exchange(*out, first);
  return 0;
}

int fi_fabric(fi_fabric_attr*, fid_fabric** out, void*) { return ofi_double::open_fabric(out); }

int fi_open(std::uint32_t, const char* name, void*, std::size_t, std::uint64_t, fid** out, void*) {
  static fi_ops functions = ofi_double::table<fi_ops>([](auto& made) {
    made.close = [](fid*) { return 0; };
    made.bind = ofi_double::import;
  });
  static fid place = {0, nullptr, &functions};
  const bool known = std::strcmp(name, "logging") == 0 || std::strcmp(name, "mr_cache") == 0;
  *out = known ? &place : nullptr;
  return known ? 0 : -FI_ENOSYS;
}

const char* fi_strerror(int error) { return std::strerror(error); }

std::uint32_t fi_version(void) { return FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION); }

}  // extern "C"
