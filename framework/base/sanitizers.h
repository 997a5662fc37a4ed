#pragma once

// Which sanitizer the build has, whatever the compiler calls it: ASHLAR_ASAN, ASHLAR_TSAN.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ASHLAR_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define ASHLAR_TSAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define ASHLAR_ASAN 1
#endif
#if defined(__SANITIZE_THREAD__)
#define ASHLAR_TSAN 1
#endif
