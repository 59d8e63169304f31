# shellcheck shell=bash
# Sourced: what the names of the two targets mean. Sets architecture (Debian's), triplet and emulator.
case $1 in
  aarch64) architecture=arm64 triplet=aarch64-linux-gnu emulator=qemu-aarch64 ;;
  armhf) architecture=armhf triplet=arm-linux-gnueabihf emulator=qemu-arm ;;
  *) echo "no target '$1': aarch64 or armhf" >&2; exit 2 ;;
esac
