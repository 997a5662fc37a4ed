#pragma once
#include <cstddef>
#include <cstdint>

#include "framework/plugin/component.h"

namespace ashlar::plugin {

/// How rooms write a row: the word at `offset` of the block, for MPI_T's level tuner-detail.
constexpr ashlar_pvar_row pvar(const char* name, const char* help, ashlar_pvar_class kind, std::size_t offset,
                               std::uint8_t verbosity = ASHLAR_TUNER_DETAIL) {
  return {.name = name,
          .help = help,
          .kind = static_cast<std::uint8_t>(kind),
          .bind = ASHLAR_PVAR_OF_PROCESS,
          .verbosity = verbosity,
          .reserved = 0,
          .offset = static_cast<std::uint32_t>(offset),
          .read = nullptr,
          .count = nullptr,
          .choices = nullptr};
}

using PvarReader = void (*)(const ashlar_pvar_row* row, const void* block, const void* object, std::uint64_t* values,
                            std::uint32_t count);

/// A row whose values `read` computes from the block.
constexpr ashlar_pvar_row computed_pvar(const char* name, const char* help, ashlar_pvar_class kind, PvarReader read,
                                        std::uint8_t verbosity = ASHLAR_TUNER_DETAIL) {
  ashlar_pvar_row row = pvar(name, help, kind, 0, verbosity);
  row.read = read;
  return row;
}

/// A row of each communicator. `count`: how many values one has; nullptr: one. `read` gets the Comm as its object.
constexpr ashlar_pvar_row comm_pvar(const char* name, const char* help, ashlar_pvar_class kind, PvarReader read,
                                    std::uint32_t (*count)(const void* object) = nullptr,
                                    std::uint8_t verbosity = ASHLAR_TUNER_BASIC) {
  ashlar_pvar_row row = computed_pvar(name, help, kind, read, verbosity);
  row.bind = ASHLAR_PVAR_OF_COMM;
  row.count = count;
  return row;
}

}  // namespace ashlar::plugin
