# shellcheck shell=bash
# Sourced by farcl-dev: installs what packages.txt names and this machine lacks.

missing_packages() {
  local wanted installed
  wanted=$(sed -e 's/#.*//' -e 's/[[:space:]]//g' -e '/^$/d' packages.txt | sort -u)
  # "ii" is a package that is completely installed.
  installed=$(dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' | awk '$1 == "ii" {print $2}' | sort -u)
  comm -23 <(echo "$wanted") <(echo "$installed")
}

require_debian_12() {
  local id='' version='' name=''
  [[ ! -r /etc/os-release ]] || { id=$(. /etc/os-release && echo "${ID:-}"); version=$(. /etc/os-release && echo "${VERSION_ID:-}"); name=$(. /etc/os-release && echo "${PRETTY_NAME:-}"); }
  [[ $id == debian && $version == 12 ]] && command -v apt-get dpkg-query >/dev/null && return
  die "the set-up knows Debian 12 only, and this is ${name:-an unknown system}. Install what packages.txt names by hand and set FARCL_SKIP_SETUP=1."
}

setup() {
  [[ ${FARCL_SKIP_SETUP:-} != 1 ]] || return 0
  # Quick when nothing changed: the mark holds the list that was found complete.
  local mark=build/.setup-complete
  cmp -s packages.txt "$mark" && return 0
  require_debian_12
  local packages as_root=()
  packages=$(missing_packages)
  if [[ -n $packages ]]; then
    if [[ $(id -u) != 0 ]]; then
      command -v sudo >/dev/null || die "these packages are missing, and installing them needs root or sudo: ${packages//$'\n'/ }"
      as_root=(sudo)
    fi
    say "install $(wc -l <<<"$packages") Debian packages: ${packages//$'\n'/ }"
    install_packages "$packages" "${as_root[@]}"
  fi
  mkdir -p build
  cp packages.txt "$mark"
}

# The lists are fetched only when one of the packages is not known yet or could not be had as listed.
install_packages() {
  local packages=$1 as_root=("${@:2}") unknown
  if [[ -z $(unknown_packages "$packages") ]] && apt_install "$packages" "${as_root[@]}"; then
    return 0
  fi
  apt_get "${as_root[@]}" update || die "apt-get update failed: is there a network, and does /etc/apt name a mirror that can be reached?"
  unknown=$(unknown_packages "$packages")
  [[ -z $unknown ]] || die "apt knows no package ${unknown//$'\n'/ }. Clang 22 comes from Debian 12's security updates: /etc/apt must name bookworm-security main (deb http://deb.debian.org/debian-security bookworm-security main)."
  apt_install "$packages" "${as_root[@]}" || die "apt-get could not install the packages; its own message stands above."
}

# Those of a list that apt's own lists do not offer (policy prints "Candidate: (none)", or nothing at all).
unknown_packages() {
  comm -23 <(sort -u <<<"$1") <(apt-cache policy $1 | awk '/^[^ ]/ {name = $1} /Candidate: [^(]/ {sub(":$", "", name); print name}' | sort -u)
}

apt_install() { apt_get "${@:2}" install --no-install-recommends $1; }

# apt_get [sudo] COMMAND...: no questions, and a bounded wait for another apt and for a silent mirror.
apt_get() {
  local as_root=()
  [[ $1 != sudo ]] || { as_root=(sudo); shift; }
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -y -q -o DPkg::Lock::Timeout=300 -o Acquire::http::Timeout=30 -o Acquire::Retries=2 "$@"
}
