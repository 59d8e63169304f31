#!/usr/bin/env bash
# usage: demonstration.sh BUILD_FOLDER
# What `./farcl-dev run` shows once everything is built: a daemon, Debian's clinfo and an example, joined by nothing but
# POCL_REMOTE_SERVERS. (OCL_ICD_VENDORS points OpenCL's loader to the build's driver; an installed one needs no such help.)
set -euo pipefail
build=$(cd "$1" && pwd)
scratch=$(mktemp -d)
daemon=
stop_daemon() {
  [[ -z $daemon ]] || { kill "$daemon" 2>/dev/null; wait "$daemon" 2>/dev/null || true; }
  daemon=
}
trap 'stop_daemon; rm -rf "$scratch"' EXIT
die() { printf 'farcl-dev run: %s\n' "$*" >&2; exit 1; }
say() { printf '\n== %s\n' "$*"; }
show() { printf '$ %s\n' "$*"; }

example=$build/examples/terrain
picture=$build/picture.png
for program in "$build/bin/farcld" "$build/bin/farcl-kc" "$example"; do
  [[ -x $program ]] || die "$program was not built"
done
command -v clinfo >/dev/null || die "clinfo is missing; ./farcl-dev setup installs it"

say "a daemon on a private Unix socket and on loopback TCP"
show "farcld --unix $scratch/farcl.sock --listen 127.0.0.1:0"
"$build/bin/farcld" --unix "$scratch/farcl.sock" --listen 127.0.0.1:0 --print-ports >"$scratch/addresses" 2>"$scratch/log" &
daemon=$!
for ((tries = 0; tries < 100; ++tries)); do
  ! grep -qx ready "$scratch/addresses" || break
  kill -0 "$daemon" 2>/dev/null || break
  sleep 0.1
done
grep -qx ready "$scratch/addresses" || { cat "$scratch/log" >&2; die "the daemon did not start"; }
mapfile -t servers < <(grep -vx ready "$scratch/addresses")

export OCL_ICD_VENDORS=$build/vendors
for server in "${servers[@]}"; do
  say "Debian's clinfo through $server"
  show "POCL_REMOTE_SERVERS=$server clinfo -l"
  POCL_REMOTE_SERVERS=$server timeout 30 clinfo -l || die "clinfo failed"
done
say "an example: kernels with local memory and barriers, checked against this machine"
show "POCL_REMOTE_SERVERS=${servers[0]} terrain $picture"
POCL_REMOTE_SERVERS=${servers[0]} timeout 120 "$example" "$picture" || die "the example failed"
[[ $(head -c 8 "$picture" | od -An -tx1 | tr -d ' \n') == 89504e470d0a1a0a ]] || die "$picture is not a PNG"
stop_daemon

say "done; the daemon has stopped"
cat <<TEXT
The picture is $picture
Next:
  $build/bin/farcl run -- clpeak       any OpenCL program, with a daemon of its own
  $build/bin/farcl list                what servers and devices POCL_REMOTE_SERVERS names
  ./farcl-dev test --quick             the daily tests
To use another machine: build or install FarCL there too, then, with your own ssh access,
  POCL_REMOTE_SERVERS=ssh://user@host PROGRAM
docs/users.md says more.
TEXT
