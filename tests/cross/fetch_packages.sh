#!/usr/bin/env bash
# usage: fetch_packages.sh ARCHITECTURE FOLDER PACKAGE...
# Unpacks Debian packages of another architecture into FOLDER/root. The machine's own package lists and state are not
# touched: apt gets a state folder of its own. What is there already is not fetched again.
set -euo pipefail
architecture=$1 folder=$2
shift 2
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
exec 9>"$folder/lock"
flock --wait 300 9
wanted=$(printf '%s\n' "$@" | sort)
[[ ! -f $folder/complete || $(cat "$folder/complete") != "$wanted" ]] || exit 0

rm -rf "$folder/root" "$folder/state" "$folder/packages"
mkdir -p "$folder/state/lists/partial" "$folder/state/cache/archives/partial" "$folder/packages" "$folder/root"
: >"$folder/state/status"
options=(
  -q -o "APT::Architecture=$architecture" -o "APT::Architectures::=$architecture"
  -o "Dir::State=$folder/state" -o "Dir::State::lists=$folder/state/lists" -o "Dir::State::status=$folder/state/status"
  -o "Dir::Cache=$folder/state/cache" -o APT::Sandbox::User=root -o Acquire::http::Timeout=30 -o Acquire::Retries=2
)
# One archive of several may be out of step on a mirror; what counts is that the packages can be had.
apt-get "${options[@]}" update >"$folder/fetch.log" 2>&1 || true
(cd "$folder/packages" && apt-get "${options[@]}" download "${@/%/:$architecture}") >>"$folder/fetch.log" 2>&1 ||
  { cat "$folder/fetch.log" >&2; echo "fetching the $architecture packages failed" >&2; exit 1; }
for package in "$folder"/packages/*.deb; do
  dpkg-deb -x "$package" "$folder/root"
done
rm -rf "$folder/state" "$folder/packages"
printf '%s\n' "$wanted" >"$folder/complete"
