#!/usr/bin/env bash
# Puts the device library that clang links into HIP kernels into FOLDER, unless it is there: native/toolchains/hip.sh
# FOLDER. It is Debian's (rocm-device-libs), which is older than gfx942, with the one constant that tells the library
# which processor it runs on added for it. The compiler comes from `deploy/local/bootstrap.sh gpu`.
set -euo pipefail
folder=$1
llvm=/usr/lib/llvm-19/bin
bitcode=/usr/lib/$(gcc -dumpmachine)/amdgcn/bitcode
for proof in "$bitcode" $llvm/clang++ $llvm/clang-offload-bundler $llvm/ld.lld $llvm/llvm-as /usr/include/hip/hip_runtime.h; do
  [ -e "$proof" ] || { echo "there is no $proof: run deploy/local/bootstrap.sh gpu first" >&2 && exit 1; }
done
made_of=$(cat "$0" "$bitcode"/*.bc | sha256sum)

is_there() { [ "$(cat "$folder/made-of" 2>/dev/null)" = "$made_of" ]; }
! is_there || exit 0
echo "making the HIP device library for gfx942 from $bitcode"
mkdir -p "$(dirname "$folder")"
scratch=$(mktemp -d "$folder.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cp "$bitcode"/*.bc "$scratch"

# derive SOURCE TARGET FROM TO: TARGET.bc is SOURCE.bc with its constant changed; one that the library has is kept.
derive() {
  [ ! -e "$scratch/$2.bc" ] || return 0
  $llvm/llvm-dis "$scratch/$1.bc" -o "$scratch/$2.ll"
  grep -q "constant i32 $3," "$scratch/$2.ll" || { echo "$1.bc does not hold $3" >&2 && return 1; }
  sed "s/constant i32 $3,/constant i32 $4,/" "$scratch/$2.ll" | $llvm/llvm-as -o "$scratch/$2.bc"
  rm "$scratch/$2.ll"
}
derive oclc_isa_version_90a oclc_isa_version_942 9010 9402
derive oclc_abi_version_400 oclc_abi_version_500 400 500
echo "$made_of" >"$scratch/made-of"
chmod 755 "$scratch"
# One made of something else goes; another run of the same may have been faster.
is_there || rm -rf "$folder"
mv -T "$scratch" "$folder" || is_there
