#pragma once
#include <cstdint>

#include "framework/plugin/transport.h"

namespace ashlar::loopback {

ashlar_key key_of(const void* address, std::uint64_t length);

// Functions of the tables.
ashlar_result get(ashlar_endpoint*, void* to, const ashlar_key*, std::uint64_t offset, std::uint64_t length,
                  ashlar_completion*);
ashlar_result put(ashlar_endpoint*, const void* from, const ashlar_key*, std::uint64_t offset, std::uint64_t length,
                  ashlar_completion*);
ashlar_result getv(ashlar_endpoint*, const ashlar_key*, const ashlar_piece*, std::uint32_t count, ashlar_completion*);
ashlar_result putv(ashlar_endpoint*, const ashlar_key*, const ashlar_piece*, std::uint32_t count, ashlar_completion*);
ashlar_result amo(ashlar_endpoint*, int op, std::uint32_t width, const ashlar_key*, std::uint64_t offset,
                  std::uint64_t operand, std::uint64_t compare, void* result, ashlar_completion*);
void attributes(ashlar_iface*, ashlar_iface_attributes* out);

}  // namespace ashlar::loopback
