#!/usr/bin/env bash
# usage: check_install.sh BUILD_FOLDER VERSION
# Installs into a folder of its own, builds a project that finds the installation, and runs it with the installed farcl,
# farcld, farcl-kc and driver alone; then once more after the folder was moved, since people unpack archives anywhere.
set -euo pipefail
build=$1 version=$2
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() { echo "check_install: $*" >&2; exit 1; }
unset POCL_REMOTE_SERVERS OCL_ICD_VENDORS LD_LIBRARY_PATH
export XDG_CACHE_HOME=$scratch/cache

prefix=$scratch/prefix
cmake --install "$build" --prefix "$prefix" >"$scratch/install.log" 2>&1 || { cat "$scratch/install.log"; fail "installing failed"; }
for file in bin/farcl bin/farcld bin/farcl-kc include/farcl/version.h etc/OpenCL/vendors/farcl.icd; do
  [[ -f $prefix/$file ]] || fail "$file is not installed"
done
find "$prefix" -name LICENSE | grep -q . || fail "LICENSE is not installed"
driver=$(cat "$prefix/etc/OpenCL/vendors/farcl.icd")
[[ $driver == "$prefix"/* && -f $driver ]] || fail "farcl.icd names $driver"
# What is installed must not reach into the build or source tree.
for program in "$prefix"/bin/farcl "$prefix"/bin/farcld "$prefix"/bin/farcl-kc "$driver"; do
  ! readelf -d "$program" | grep -E 'RPATH|RUNPATH' | grep -qF "$build" || fail "$program has a run path into the build tree"
done

cmake -S "$here/consumer" -B "$scratch/consumer" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" >"$scratch/configure.log" 2>&1 ||
  { cat "$scratch/configure.log"; fail "the consumer does not configure"; }
cmake --build "$scratch/consumer" >"$scratch/build.log" 2>&1 || { cat "$scratch/build.log"; fail "the consumer does not build"; }
run_consumer() {
  local output
  output=$(timeout 60 "$1/bin/farcl" run -- "$scratch/consumer/consumer" 2>"$scratch/stderr") || { cat "$scratch/stderr"; fail "the consumer failed under $1"; }
  [[ $output == "FarCL $version added 1000 numbers" ]] || fail "the consumer printed: $output"
  [[ ! -s $scratch/stderr ]] || { cat "$scratch/stderr"; fail "the consumer's stderr is not empty"; }
}
run_consumer "$prefix"
mv "$prefix" "$scratch/elsewhere"
run_consumer "$scratch/elsewhere"
