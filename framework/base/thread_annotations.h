#pragma once
// Clang's thread-safety analysis; empty elsewhere. The clang build runs with -Wthread-safety.
#if defined(__clang__)
#define ASHLAR_THREAD_ATTR(x) __attribute__((x))
#else
#define ASHLAR_THREAD_ATTR(x)
#endif
#define ASHLAR_CAPABILITY(x) ASHLAR_THREAD_ATTR(capability(x))
#define ASHLAR_SCOPED_CAPABILITY ASHLAR_THREAD_ATTR(scoped_lockable)
#define ASHLAR_GUARDED_BY(x) ASHLAR_THREAD_ATTR(guarded_by(x))
#define ASHLAR_PT_GUARDED_BY(x) ASHLAR_THREAD_ATTR(pt_guarded_by(x))
#define ASHLAR_REQUIRES(...) ASHLAR_THREAD_ATTR(requires_capability(__VA_ARGS__))
#define ASHLAR_ACQUIRE(...) ASHLAR_THREAD_ATTR(acquire_capability(__VA_ARGS__))
#define ASHLAR_TRY_ACQUIRE(...) ASHLAR_THREAD_ATTR(try_acquire_capability(__VA_ARGS__))
#define ASHLAR_RELEASE(...) ASHLAR_THREAD_ATTR(release_capability(__VA_ARGS__))
#define ASHLAR_ASSERTS(...) ASHLAR_THREAD_ATTR(assert_capability(__VA_ARGS__))
#define ASHLAR_EXCLUDES(...) ASHLAR_THREAD_ATTR(locks_excluded(__VA_ARGS__))
#define ASHLAR_NO_THREAD_SAFETY ASHLAR_THREAD_ATTR(no_thread_safety_analysis)
