#!/bin/bash
# Shows that the fuzzers would find a mistake: plants an off-by-one in a copy of the sources, where the decoder compares a length
# with the bytes that are left, and runs fuzz_decoder on it. Succeeds when the fuzzer finds it within SECONDS (default 600).
#
#   tests/fuzz/planted_defect.sh [SECONDS]
set -euo pipefail
cd "$(dirname "$0")/../.."

seconds=${1:-600}
source=$PWD
copy=$source/build/fuzz-planted
rm -rf "$copy"
mkdir -p "$copy/source"
git ls-files -z -- CMakeLists.txt CMakePresets.json cmake include lib protocol tests/CMakeLists.txt tests/fuzz tests/protocol |
  tar --null -T - -c | tar -x -C "$copy/source"

header=$copy/source/lib/base/include/farcl/base/archive.hpp
sed -i 's|if (count > in_.size() / min_element_bytes) {|if (count > (in_.size() + 1) / min_element_bytes) {|' "$header"
if cmp -s "$header" lib/base/include/farcl/base/archive.hpp; then
  echo "the line in which the defect is planted is no longer there" >&2
  exit 2
fi

options=(-DFARCL_SANITIZE=address,undefined,fuzzer-no-link -DFARCL_BUILD_FUZZERS=ON)
for part in DRIVER DAEMON KERNEL_COMPILER TOOLS EXAMPLES; do
  options+=("-DFARCL_BUILD_$part=OFF")
done
cmake -S "$copy/source" -B "$copy/build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_C_COMPILER=clang-22 \
  -DCMAKE_CXX_COMPILER=clang++-22 "${options[@]}" >/dev/null
ninja -C "$copy/build" fuzz_decoder >/dev/null

start=$(date +%s)
mkdir -p "$copy/found"
if nice -n 19 "$copy/build/fuzz/fuzz_decoder" -max_total_time="$seconds" -timeout=10 -max_len=16384 -artifact_prefix="$copy/" "$copy/found" \
  tests/fuzz/corpus/decoder >"$copy/log" 2>&1; then
  echo "the planted off-by-one was not found in $seconds s"
  exit 1
fi
grep -q 'AddressSanitizer\|fuzz_decoder:' "$copy/log" || { tail -5 "$copy/log"; exit 1; }
echo "the planted off-by-one was found after $(($(date +%s) - start)) s: $(grep -m1 -o 'ERROR: .*\|fuzz_decoder: .*' "$copy/log")"
