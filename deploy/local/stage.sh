#!/usr/bin/env bash
# Stages what an image of the project holds: `stage.sh operator|runtime` fills .stage/NAME and prints its path.
# Third-party packages (production dependencies only) go to node_modules, the compiled workspaces to packages/.
# `stage.sh runtime cuda|hip` adds that vendor's kernels, and fills .stage/runtime-cuda or .stage/runtime-hip.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/lib/settings.sh"
source "$local_folder/lib/progress.sh"

workspace=${1:?usage: stage.sh operator|runtime [cuda|hip]}
vendor=${2:-}
stage=$repository/.stage/$workspace${vendor:+-$vendor}
cd "$repository"
[[ -f $workspace/dist/main.js ]] || die "$workspace is not built: run make build first"

# The closure of production dependencies, as npm sees it; links are the workspaces among them.
mapfile -t folders < <(npm ls --workspace "@llmservice/$workspace" --omit=dev --all --parseable 2>/dev/null | sed -n "s|^$repository/||p" | sort -u)
links=" node_modules/@llmservice/$workspace node_modules/@llmservice/crds node_modules/@llmservice/checkpoint node_modules/@llmservice/native "
copied=()
for folder in "${folders[@]}"; do
  case $folder in
    node_modules/@llmservice/*) [[ $links == *" $folder "* ]] || die "$workspace must not depend on $folder" ;;
    node_modules/* | */node_modules/*) copied+=("$folder") ;;
  esac
done
rm -rf "$stage"
mkdir -p "$stage/node_modules/@llmservice" "$stage/packages"
# Nested packages are listed by themselves. Of no use in the container: type declarations, source maps, and the
# addons that some packages carry for every platform.
other_cpu=$(if [[ $(uname -m) == x86_64 ]]; then echo arm; else echo x64; fi)
find "${copied[@]}" -mindepth 1 -name node_modules -prune -o \( -type f -o -type l \) \
  ! -name '*.map' ! -name '*.d.ts' ! -name '*.d.cts' ! -name '*.d.mts' \
  ! -regex '.*[.-]\(android\|darwin\|freebsd\|win32\)-[^/]*\.node' ! -name '*-musl*.node' ! -name "*linux-$other_cpu*.node" \
  -print0 |
  tar --create --null --files-from - --transform 's,^\(crds\|checkpoint\|native\|runtime\|operator\)/,packages/&,' |
  tar --extract --directory "$stage"

packages=(crds checkpoint "$workspace")
[[ $workspace == operator ]] || packages+=(native)
for package in "${packages[@]}"; do
  ln -s "../../$package" "$stage/node_modules/@llmservice/$package"
  mkdir -p "$stage/packages/$package"
  cp -a "$package/package.json" "$package/dist" "$stage/packages/$package"
  # What of a page is not compiled.
  [[ ! -d $package/ui ]] || (cd "$package" && cp --parents ui/*.html ui/*.css "$stage/packages/$package")
  find "$stage/packages/$package/dist" \( -name '*.d.ts' -o -name '*.map' -o -name '*.test.*' -o -name '*.tsbuildinfo' \) -delete
done
find crds -maxdepth 1 \( -name '*.yaml' -o -name '*.schema.json' \) -exec cp -t "$stage/packages/crds" {} +
if [[ -d $stage/packages/native ]]; then
  mkdir -p "$stage/packages/native/build/Release"
  cp native/build/Release/llmservice_native.node "$stage/packages/native/build/Release"
  # What nodes reach each other by, with what it needs beside the C library: where a base image has UCX, it has another one.
  nodes=native/build/Release/llmservice_nodes.so
  if [[ -f $nodes ]]; then
    cp "$nodes" "$stage/packages/native/build/Release"
    ldd "$nodes" | sed -nE 's/^\s*(libuc[a-z]*|libnuma)\.so\S* => (\S+) .*/\2/p' |
      xargs cp -L -t "$stage/packages/native/build/Release"
  fi
  if [[ -n $vendor ]]; then
    library=native/build/Release/llmservice_$vendor.so
    [[ -f $library ]] || die "there is no $library: deploy/docs/gpu.md says how to build it"
    cp "$library" "$stage/packages/native/build/Release"
  fi
fi
echo "$stage"
