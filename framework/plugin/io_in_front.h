/* For a component of io that stands in front of another one (`next` of ashlar_io_context): its driver, its open files,
 * and functions that make a call by the driver behind, for what the component does not change. */
#ifndef ASHLAR_IO_IN_FRONT_H
#define ASHLAR_IO_IN_FRONT_H

#include "framework/plugin/io.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The component's own data follows. */
typedef struct ashlar_io_front_driver {
  ashlar_io_driver head;
  ashlar_io_driver* next;
} ashlar_io_front_driver;

typedef struct ashlar_io_front_file {
  ashlar_io_file head;
  ashlar_io_file* next;
} ashlar_io_front_file;

static inline ashlar_io_driver* ashlar_io_driver_behind(ashlar_io_driver* driver) {
  return ((ashlar_io_front_driver*)driver)->next;
}

static inline ashlar_io_file* ashlar_io_file_behind(ashlar_io_file* file) {
  return ((ashlar_io_front_file*)file)->next;
}

static inline ashlar_result ashlar_io_remove_behind(ashlar_io_driver* driver, const char* path) {
  ashlar_io_driver* const next = ashlar_io_driver_behind(driver);
  return next->ops->remove(next, path);
}

static inline ashlar_result ashlar_io_stat_behind(ashlar_io_file* file, ashlar_io_stat* out) {
  ashlar_io_file* const next = ashlar_io_file_behind(file);
  return next->ops->stat(next, out);
}

static inline ashlar_result ashlar_io_truncate_behind(ashlar_io_file* file, uint64_t bytes) {
  ashlar_io_file* const next = ashlar_io_file_behind(file);
  return next->ops->truncate(next, bytes);
}

static inline ashlar_result ashlar_io_allocate_behind(ashlar_io_file* file, uint64_t bytes) {
  ashlar_io_file* const next = ashlar_io_file_behind(file);
  return next->ops->allocate(next, bytes);
}

static inline ashlar_result ashlar_io_sync_behind(ashlar_io_file* file) {
  ashlar_io_file* const next = ashlar_io_file_behind(file);
  return next->ops->sync(next);
}

/* What the driver behind may lack: then the answer is the one that io.h gives to NULL. */
static inline ashlar_result ashlar_io_refresh_behind(ashlar_io_file* file) {
  ashlar_io_file* const next = ashlar_io_file_behind(file);
  return ASHLAR_HAS(next->ops, refresh) && next->ops->refresh ? next->ops->refresh(next) : ASHLAR_OK;
}

static inline ashlar_result ashlar_io_lock_behind(ashlar_io_file* file, uint64_t offset, uint64_t length) {
  ashlar_io_file* const next = ashlar_io_file_behind(file);
  return ASHLAR_HAS(next->ops, unlock) && next->ops->lock ? next->ops->lock(next, offset, length) : ASHLAR_AGAIN;
}

static inline void ashlar_io_unlock_behind(ashlar_io_file* file, uint64_t offset, uint64_t length) {
  ashlar_io_file* const next = ashlar_io_file_behind(file);
  next->ops->unlock(next, offset, length);
}

static inline ashlar_result ashlar_io_share_behind(ashlar_io_file* file, uint64_t offset, uint64_t length) {
  ashlar_io_file* const next = ashlar_io_file_behind(file);
  return ASHLAR_HAS(next->ops, share) && next->ops->share ? next->ops->share(next, offset, length) : ASHLAR_AGAIN;
}

static inline ashlar_result ashlar_io_map_behind(ashlar_io_file* file, uint64_t offset, uint64_t length,
                                                 void** memory) {
  ashlar_io_file* const next = ashlar_io_file_behind(file);
  return ASHLAR_HAS(next->ops, unmap) && next->ops->map ? next->ops->map(next, offset, length, memory) : ASHLAR_AGAIN;
}

static inline void ashlar_io_unmap_behind(ashlar_io_file* file, void* memory, uint64_t length) {
  ashlar_io_file* const next = ashlar_io_file_behind(file);
  next->ops->unmap(next, memory, length);
}

#ifdef __cplusplus
}
#endif
#endif
