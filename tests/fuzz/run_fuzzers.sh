#!/bin/bash
# Runs every fuzz target of the project for a while, side by side, and measures what they reached.
#
#   tests/fuzz/run_fuzzers.sh SECONDS [TARGET...]
#
# Builds build/fuzz (ASan, UBSan, coverage), runs each target (or those named) for SECONDS at low priority from its seeds and
# what earlier runs found, then prints per target the executions and whether it was clean, and the line coverage of protocol/
# and daemon/handlers/ with everything replayed. Fails when a target found something; the input lies in build/fuzz/fuzz/.
set -euo pipefail
cd "$(dirname "$0")/../.."

seconds=${1:?usage: run_fuzzers.sh SECONDS [TARGET...]}
shift
[[ $seconds =~ ^[0-9]+$ ]] || { echo "SECONDS must be a number" >&2; exit 2; }
build=build/fuzz
found=$build/fuzz

# name and corpus folder of each farcl_add_fuzzer, one per line
list_targets() {
  grep -rl --include=CMakeLists.txt 'farcl_add_fuzzer(' tests | while read -r file; do
    tr '\n' ' ' <"$file" | grep -o 'farcl_add_fuzzer([^)]*)' | sed -E "s|.*NAME +([^ )]+).*CORPUS +([^ )]+).*|\1 $(dirname "$file")/\2|; s|\\\$\{CMAKE_CURRENT_SOURCE_DIR\}/||"
  done
}
declare -A corpus
while read -r name folder; do
  corpus[$name]=$folder
done < <(list_targets)
targets=("$@")
[[ ${#targets[@]} -gt 0 ]] || mapfile -t targets < <(printf '%s\n' "${!corpus[@]}" | sort)
for name in "${targets[@]}"; do
  [[ -n ${corpus[$name]:-} ]] || { echo "there is no fuzz target $name" >&2; exit 2; }
done

cmake --preset fuzz >/dev/null
ninja -C $build "${targets[@]}" "${targets[@]/%/_replay}" >/dev/null

echo "$(date -u +%F) ${seconds} s each: ${targets[*]}"
declare -A process
for name in "${targets[@]}"; do
  mkdir -p $found/$name.found
  rm -f $found/$name.profile*
  LLVM_PROFILE_FILE=/dev/null nice -n 19 $found/$name -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=16384 -print_final_stats=1 \
    -artifact_prefix=$found/$name- $found/$name.found "${corpus[$name]}" >$found/$name.log 2>&1 &
  process[$name]=$!
done

result=0
for name in "${targets[@]}"; do
  outcome=clean
  wait "${process[$name]}" || { outcome="FAILED, see $found/$name.log"; result=1; }
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' $found/$name.log)
  echo "$name: ${executions:-0} executions, $(find $found/$name.found -type f | wc -l) inputs kept, $outcome"
done

objects=()
profiles=()
for name in "${targets[@]}"; do
  LLVM_PROFILE_FILE=$found/$name.profile $build/tests/${name}_replay "${corpus[$name]}" $found/$name.found >/dev/null
  profiles+=($found/$name.profile)
  objects+=(-object $build/tests/${name}_replay)
done
llvm-profdata-22 merge -o $found/all.profdata "${profiles[@]}"
coverage() { # label, folder
  llvm-cov-22 report "${objects[@]}" -instr-profile=$found/all.profdata "$PWD/$2" 2>/dev/null |
    awk -v label="$1" '$1 == "TOTAL" { print label ": " $10 " of " $8 " lines" }'
}
coverage "line coverage of protocol/" protocol
[[ -d daemon/handlers ]] && coverage "line coverage of daemon/handlers/" daemon/handlers
exit $result
