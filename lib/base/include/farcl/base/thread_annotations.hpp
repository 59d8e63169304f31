// clang's thread-safety marks (https://clang.llvm.org/docs/ThreadSafetyAnalysis.html); nothing under other compilers.
#pragma once

#if defined(__clang__)
#define FARCL_THREAD_ATTRIBUTE(x) __attribute__((x))
#else
#define FARCL_THREAD_ATTRIBUTE(x)
#endif

#define FARCL_CAPABILITY(name) FARCL_THREAD_ATTRIBUTE(capability(name))
#define FARCL_SCOPED_CAPABILITY FARCL_THREAD_ATTRIBUTE(scoped_lockable)
#define FARCL_GUARDED_BY(mutex) FARCL_THREAD_ATTRIBUTE(guarded_by(mutex))
#define FARCL_REQUIRES(...) FARCL_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define FARCL_ACQUIRE(...) FARCL_THREAD_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define FARCL_RELEASE(...) FARCL_THREAD_ATTRIBUTE(release_capability(__VA_ARGS__))
#define FARCL_TRY_ACQUIRE(...) FARCL_THREAD_ATTRIBUTE(try_acquire_capability(__VA_ARGS__))
#define FARCL_EXCLUDES(...) FARCL_THREAD_ATTRIBUTE(locks_excluded(__VA_ARGS__))
#define FARCL_NO_THREAD_SAFETY_ANALYSIS FARCL_THREAD_ATTRIBUTE(no_thread_safety_analysis)
