#!/usr/bin/env bash
# A signed repository in the place of AMD's, where that cannot be reached: `rocm-repository.sh FOLDER VERSION SUITE` fills
# FOLDER. Its hip-runtime-amd and rccl have no file: they ask for the packages of the distribution's own, older ROCm.
set -euo pipefail
folder=$1 version=$2 suite=$3
packages=$folder/apt/$version/dists/$suite/main/binary-amd64
pool=$folder/apt/$version/pool
mkdir -p "$packages" "$pool" "$folder/keys"
chmod 700 "$folder/keys"
key() { gpg --homedir "$folder/keys" --batch --quiet "$@"; }
trap 'gpgconf --homedir "$folder/keys" --kill gpg-agent' EXIT
key --passphrase '' --quick-generate-key 'In place of ROCm <rocm@localhost>' ed25519 sign never
key --armor --export >"$folder/rocm.gpg.key"

# stand_in NAME DEPENDS
stand_in() {
  local root
  root=$(mktemp -d "$folder/package.XXXXXX")
  chmod 755 "$root"
  mkdir "$root/DEBIAN"
  printf 'Package: %s\nVersion: %s-0\nArchitecture: amd64\nMaintainer: none <rocm@localhost>\nDepends: %s\nDescription: in place of %s\n' \
    "$1" "$version" "$2" "$1" >"$root/DEBIAN/control"
  dpkg-deb --build --root-owner-group "$root" "$pool/$1.deb" >/dev/null
}
stand_in hip-runtime-amd libamdhip64-5
stand_in rccl librccl1

cd "$folder/apt/$version"
dpkg-scanpackages pool >"$packages/Packages" 2>/dev/null
cd "dists/$suite"
{
  printf 'Origin: repo.radeon.com\nSuite: %s\nCodename: %s\nDate: %s\nArchitectures: amd64\nComponents: main\nSHA256:\n' \
    "$suite" "$suite" "$(LC_ALL=C date --utc --rfc-email)"
  printf ' %s %s main/binary-amd64/Packages\n' "$(sha256sum <main/binary-amd64/Packages | cut -d' ' -f1)" \
    "$(stat -c %s main/binary-amd64/Packages)"
} >Release
key --clearsign --output InRelease Release
