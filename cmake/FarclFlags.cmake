# farcl_flags: the one place for compile and link options of our own code.
add_library(farcl_flags INTERFACE)
target_compile_features(farcl_flags INTERFACE cxx_std_20)
target_compile_options(farcl_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wno-missing-field-initializers
                       -fvisibility=hidden -fvisibility-inlines-hidden -fno-strict-aliasing
                       $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety>)
# g++ 12 sees overflows in std::vector and std::string that are not there (its bugs 105329, 105762).
target_compile_options(farcl_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict;-Wno-stringop-overflow;-Wno-array-bounds>)
# clang 22 complains about what std::stable_sort of libstdc++ 12 is made of.
target_compile_options(farcl_flags INTERFACE $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>)
if(FARCL_WERROR)
  target_compile_options(farcl_flags INTERFACE -Werror)
endif()
if(FARCL_SANITIZE)
  target_compile_options(farcl_flags INTERFACE -fsanitize=${FARCL_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(farcl_flags INTERFACE -fsanitize=${FARCL_SANITIZE})
endif()
if(FARCL_COVERAGE)
  target_compile_options(farcl_flags INTERFACE -fprofile-instr-generate -fcoverage-mapping)
  target_link_options(farcl_flags INTERFACE -fprofile-instr-generate)
endif()
# Where the compiler cache is cold, most of the time goes into the standard library's headers. For the libraries, which are C++ alone.
option(FARCL_PRECOMPILED_HEADERS "Precompile the standard headers that nearly every file includes" OFF)
if(FARCL_PRECOMPILED_HEADERS)
  target_precompile_headers(farcl_flags INTERFACE <algorithm> <array> <atomic> <chrono> <condition_variable> <deque> <functional> <map>
    <memory> <mutex> <optional> <set> <span> <string> <string_view> <thread> <unordered_map> <variant> <vector>)
endif()
find_program(FARCL_CCACHE ccache)
if(FARCL_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${FARCL_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${FARCL_CCACHE})
endif()
