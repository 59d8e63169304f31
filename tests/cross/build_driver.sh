#!/usr/bin/env bash
# usage: build_driver.sh TARGET SOURCE_FOLDER WORK_FOLDER
# Builds libfarcl.so alone for another processor, as it is released, in WORK_FOLDER/TARGET. Precompiled headers save a fifth of the time.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source "$here/targets.sh" "$1"
target=$1 sources=$2 work=$3/$1
packages=(clinfo ocl-icd-libopencl1 opencl-c-headers libspdlog-dev libspdlog1.10 libfmt-dev libfmt9 libexpected-dev libasio-dev libssl-dev)
"$here/fetch_packages.sh" "$architecture" "$work" "${packages[@]}"
cmake -S "$sources" -B "$work/build" -G Ninja --toolchain "$sources/cmake/toolchains/$target.cmake" \
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS=-Wno-psabi -DFARCL_PRECOMPILED_HEADERS=ON \
  -DFARCL_CROSS_ROOT="$work/root" -DFARCL_BUILD_DAEMON=OFF -DFARCL_BUILD_KERNEL_COMPILER=OFF -DFARCL_BUILD_TOOLS=OFF \
  -DFARCL_BUILD_TESTS=OFF -DFARCL_BUILD_EXAMPLES=OFF >"$work/configure.log" 2>&1 || { cat "$work/configure.log" >&2; exit 1; }
cmake --build "$work/build" -j "$(nproc)"
file=$work/build/lib/libfarcl.so
readelf -h "$file" | grep -E 'Machine|Class'
