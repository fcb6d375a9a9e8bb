# Images without a registry: built from a folder by buildah, kept as a tar named by a hash over all that goes in, and
# imported into the node's containerd. Nothing is built or imported again while that hash is the same.

image_store=$cache/images

in_buildah() {
  buildah --root "$cache/buildah/root" --runroot "$cache/buildah/run" --storage-driver overlay "$@"
}

# content_hash FOLDER: over names, contents, links and executable bits, not over times.
content_hash() (
  cd "$1"
  {
    find . -type f -print0 | LC_ALL=C sort -z | xargs -0 -r sha256sum
    find . \( -type l -printf '%p -> %l\n' \) -o \( -type f -perm /111 -printf '%p x\n' \) | LC_ALL=C sort
  } | sha256sum | cut -c1-12
)

# build_image NAME KEY DOCKERFILE BASE STAGE...: prints the image's reference. KEY stands for the content (a version, a
# tool's folder, a content hash); BASE may be empty; STAGE is a command that fills the folder given as last argument,
# and runs only when the image does not exist yet.
build_image() {
  local name=$1 key=$2 dockerfile=$3 base=$4 hash reference lock
  shift 4
  hash=$({ echo "$key $base" && cat "$dockerfile"; } | sha256sum | cut -c1-12)
  reference=llmservice.local/$name:$hash
  if [[ ! -f $(tar_of "$reference") ]]; then
    mkdir -p "$image_store"
    exec {lock}>"$image_store/.$name.lock"
    flock "$lock"
    if [[ ! -f $(tar_of "$reference") ]]; then
      with_progress "image $name" "$image_store/$name.log" make_image "$reference" "$dockerfile" "$base" "$@"
    fi
    exec {lock}>&-
  fi
  echo "$reference"
}

make_image() {
  local reference=$1 dockerfile=$2 base=$3 tar context arguments=()
  shift 3
  tar=$(tar_of "$reference")
  context=$(mktemp -d "$image_store/context.XXXXXX")
  "$@" "$context"
  if [[ -n $base ]]; then
    in_buildah inspect --type image "$base" >/dev/null 2>&1 || in_buildah pull "docker-archive:$(tar_of "$base")"
    arguments=(--build-arg "BASE=$base")
  fi
  in_buildah bud --isolation chroot --pull-never "${arguments[@]}" -t "$reference" -f "$dockerfile" "$context"
  rm -rf "$tar.partial" "$context"
  in_buildah push "$reference" "docker-archive:$tar.partial:$reference"
  mv "$tar.partial" "$tar"
}

# tar_of llmservice.local/NAME:HASH
tar_of() {
  local name=${1#llmservice.local/}
  echo "$image_store/${name/:/-}.tar"
}

# import_images REFERENCE...: into the running node, side by side, each once.
import_images() {
  local reference pid pids=()
  for reference in "$@"; do
    [[ -z $(in_node ctr -n k8s.io images ls -q "name==$reference") ]] || continue
    with_progress "import of $reference" "$state/logs/import-$(basename "$reference").log" import_tar "$(tar_of "$reference")" &
    pids+=("$!")
  done
  for pid in "${pids[@]}"; do wait "$pid" || die 'an image could not be imported'; done
}

import_tar() { in_node ctr -n k8s.io images import "$1"; }
