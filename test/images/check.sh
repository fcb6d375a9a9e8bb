#!/usr/bin/env bash
# Builds the runtime's three images from their Dockerfiles without a registry, step by step, and looks into each. Bases are
# made of the packages that the published ones are made of; ROCm's repository is another's (rocm-repository.sh). GPU
# libraries as `make native-gpu` built them; LLMSERVICE_GPU_LIBRARIES names a folder with others.
# usage: check.sh [cpu] [cuda] [rocm]
set -euo pipefail
tests=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$tests/../../deploy/local/lib/settings.sh"
for part in progress tools wheel image images; do source "$local_folder/lib/$part.sh"; done
cd "$repository"
work=$(mktemp -d "${TMPDIR:-/tmp}/llmservice-images.XXXXXX")
server=
# Ends what this started and drops what it mounted; the bases stay for the next time.
clean_up() {
  [[ -z $server ]] || kill "$server"
  buildah_here rm --all >/dev/null 2>&1 || true
  rm -rf "$work"
}
trap clean_up EXIT
# Storage of its own: the cluster's may be in use.
buildah_here() { buildah --root "$cache/buildah-check/root" --runroot "$work/run" --storage-driver overlay "$@"; }

# The base of the CPU and CUDA images has no tini, so that their Dockerfiles install it.
debian_base() {
  local reference tar
  reference=$(node_base_image)
  tar=$(tar_of "$reference")
  buildah_here inspect --type image "$reference" >/dev/null 2>&1 || buildah_here pull -q "docker-archive:$tar" >/dev/null
  printf 'FROM %s\nRUN dpkg --purge tini\n' "$reference" >"$work/without-tini"
  buildah_here bud -q --isolation chroot --pull-never --layers -t localhost/debian-base -f "$work/without-tini" "$work" >/dev/null
}

ubuntu_base() {
  local reference
  reference=$(build_image ubuntu-base noble-1 "$local_folder/images/debian-base/Dockerfile" '' stage_ubuntu)
  buildah_here inspect --type image "$reference" >/dev/null 2>&1 || buildah_here pull -q "docker-archive:$(tar_of "$reference")" >/dev/null
  buildah_here tag "$reference" localhost/ubuntu-base
}
stage_ubuntu() {
  local mirror=http://archive.ubuntu.com/ubuntu file=ubuntu-keyring_2023.11.28.1_all.deb keys
  keys=$(mktemp -d "$image_store/keys.XXXXXX")
  curl -fsSL -o "$keys/$file" "$mirror/pool/main/u/ubuntu-keyring/$file"
  sha256sum --check --quiet <<<"36de43b15853ccae0028e9a767613770c704833f82586f28eb262f0311adb8a8  $keys/$file"
  dpkg-deb --extract "$keys/$file" "$keys"
  # Debian's debootstrap does not know the name; the script is that of all of Ubuntu's releases.
  debootstrap --variant=minbase --components=main --keyring="$keys/usr/share/keyrings/ubuntu-archive-keyring.gpg" noble \
    "$1/rootfs" "$mirror" /usr/share/debootstrap/scripts/gutsy
  echo "deb $mirror noble main universe" >"$1/rootfs/etc/apt/sources.list"
  rm -rf "$1"/rootfs/{var/lib/apt/lists,var/cache/apt,usr/share/doc,usr/share/man,usr/share/locale}/* "$1"/rootfs/dev/* "$keys"
}

# Prints the address of the repository in ROCm's place.
serve_rocm() {
  local port=
  "$tests/rocm-repository.sh" "$work/rocm" "$1" "$2" >&2
  python3 -u -m http.server --bind 127.0.0.1 --directory "$work/rocm" 0 >"$work/port" 2>"$work/requests" &
  server=$!
  until port=$(sed -nE 's/.* port ([0-9]+) .*/\1/p' "$work/port") && [[ -n $port ]]; do
    kill -0 "$server" && sleep 0.1
  done
  rocm=http://127.0.0.1:$port
}

# default_of ARGUMENT: as the Dockerfile has it.
default_of() { sed -n "s/^ARG $1=//p" deploy/docker/runtime-rocm.Dockerfile; }

check_image() {
  local image=$1 vendor='' staged container root arguments=(--build-arg BASE=localhost/debian-base)
  debian_base
  case $image in
    cuda) vendor=cuda ;;
    rocm)
      vendor=hip
      ubuntu_base
      serve_rocm "$(default_of ROCM)" "$(default_of SUITE)"
      arguments=(--build-arg BASE=localhost/ubuntu-base --build-arg NODE=localhost/debian-base --build-arg "REPOSITORY=$rocm")
      ;;
  esac
  [[ -z $vendor || -z ${LLMSERVICE_GPU_LIBRARIES:-} ]] || cp "$LLMSERVICE_GPU_LIBRARIES/llmservice_$vendor.so" native/build/Release
  staged=$("$local_folder/stage.sh" runtime $vendor)
  with_progress "image runtime-$image" "$repository/.local/image-$image.log" buildah_here bud --isolation chroot --pull-never \
    "${arguments[@]}" -t "localhost/runtime-$image" -f "deploy/docker/runtime-$image.Dockerfile" "$staged"
  container=$(buildah_here from --pull-never "localhost/runtime-$image")
  root=$(buildah_here mount "$container")
  buildah_here inspect --type image "localhost/runtime-$image" >"$work/$image.json"
  npx tsx "$tests/check-image.ts" "runtime-$image" "$root" "$work/$image.json" $vendor
  buildah_here rm "$container" >/dev/null
}

images=("$@")
((${#images[@]})) || images=(cpu cuda rocm)
for image in "${images[@]}"; do check_image "$image"; done
