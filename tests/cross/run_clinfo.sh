#!/usr/bin/env bash
# usage: run_clinfo.sh TARGET WORK_FOLDER FARCLD
# Debian's clinfo for another processor, under qemu-user, against the native daemon; over a Unix socket, then over TCP.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source "$here/targets.sh" "$1"
root=$2/$1/root library=$2/$1/build/lib/libfarcl.so farcld=$3
scratch=$(mktemp -d)
daemon=
trap '[[ -z $daemon ]] || { kill "$daemon" 2>/dev/null; wait "$daemon" || true; }; rm -rf "$scratch"' EXIT
fail() { echo "run_clinfo: $*" >&2; exit 1; }

export XDG_CACHE_HOME=$scratch/cache
"$farcld" --unix "$scratch/socket" --listen 127.0.0.1:0 --print-ports >"$scratch/ports" 2>"$scratch/daemon.log" &
daemon=$!
for ((tries = 0; tries < 100; ++tries)); do
  ! grep -qx ready "$scratch/ports" || break
  sleep 0.1
done
grep -qx ready "$scratch/ports" || { cat "$scratch/daemon.log" >&2; fail "the daemon did not start"; }
mapfile -t servers < <(grep -vx ready "$scratch/ports")
[[ ${#servers[@]} == 2 ]] || { cat "$scratch/ports"; fail "the daemon named ${#servers[@]} addresses"; }

# The loader gets the file's name and not the folder's: under qemu-user a 32-bit program cannot list folders of file systems with
# 64-bit offsets.
echo "$library" >"$scratch/farcl.icd"
libraries=/usr/$triplet/lib:$root/usr/lib/$triplet
for server in "${servers[@]}"; do
  # An emulated processor is slow to connect on a busy machine.
  timeout 50 env POCL_REMOTE_SERVERS="$server" OCL_ICD_VENDORS="$scratch/farcl.icd" FARCL_CONNECT_TIMEOUT_MS=15000 \
    "$emulator" -L "/usr/$triplet" -E LD_LIBRARY_PATH="$libraries" "$root/usr/bin/clinfo" >"$scratch/clinfo" 2>"$scratch/stderr" ||
    { cat "$scratch/clinfo" "$scratch/stderr" "$scratch/daemon.log"; fail "clinfo failed with $server"; }
  [[ ! -s $scratch/stderr ]] || { cat "$scratch/stderr"; fail "clinfo's stderr is not empty with $server"; }
  grep -qE '^ *Platform Name +FarCL$' "$scratch/clinfo" || { cat "$scratch/clinfo"; fail "no platform FarCL with $server"; }
  grep -qE '^Number of devices +[1-9]' "$scratch/clinfo" || { cat "$scratch/clinfo"; fail "no device with $server"; }
  ! grep -iE '<.*error|CL_INVALID|CL_OUT_OF|: error' "$scratch/clinfo" || fail "clinfo met errors with $server"
done
grep -E 'Platform Name|Device Name|Max compute units' "$scratch/clinfo" | sort -u
