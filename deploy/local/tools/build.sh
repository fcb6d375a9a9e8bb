#!/usr/bin/env bash
# Builds the cluster's programs from their Go modules: `build.sh NAME...` builds (or finds) each and prints its folder.
# A build lands in CACHE/tools/NAME-HASH, HASH over everything it is made of, so that all checkouts on a machine share it.
# Safe to run at once from several places: a lock per build, and a rename as the last step.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=../lib/progress.sh
source "$here/../lib/progress.sh"
cache=${LLMSERVICE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/llmservice}/tools

folder_of() {
  local name=$1 hash
  hash=$(cd "$here" && cat build.sh "$name"/* | sha256sum | cut -c1-12)
  echo "$cache/$name-$hash"
}

# A tool's go.mod names the commands to build in its `tool` lines; a folder with a main.go is itself the command.
compile() {
  local name=$1 out=$2 flags='-s -w' target=tool
  cd "$here/$name"
  if [[ -f ldflags ]]; then flags+=" $(<ldflags)"; fi
  if [[ -f main.go ]]; then
    target=.
    out=$out/$name
  fi
  CGO_ENABLED=0 GOFLAGS=-mod=readonly nice -n 5 go build -v -p "${LLMSERVICE_BUILD_JOBS:-$(nproc)}" -trimpath -buildvcs=false \
    -ldflags "$flags" -o "$out" "$target"
}

# A file `keep` names a folder of a module's source that is needed beside the program: MODULE PATH.
keep_folder() {
  local module path
  cd "$here/$1"
  read -r module path <keep
  go mod download "$module" # which a build leaves out where nothing of it is compiled
  mkdir -p "$2/$(dirname "$path")"
  cp -r "$(go list -m -f '{{.Dir}}' "$module")/$path" "$2/$path"
  chmod -R u+w "$2/$path"
}

build() {
  local name=$1 position=$2 folder partial
  folder=$(folder_of "$name")
  if [[ ! -d $folder ]]; then
    mkdir -p "$cache"
    exec {lock}>"$cache/.$name.lock"
    flock -n "$lock" || {
      say "tool $name ($position): another build of it is running, waiting"
      flock "$lock"
    }
    if [[ ! -d $folder ]]; then
      command -v go >/dev/null || die "Go is missing: run deploy/local/bootstrap.sh cluster first"
      partial=$(mktemp -d "$cache/.$name.XXXXXX")
      mkdir "$partial/bin"
      with_progress "tool $name ($position)" "$cache/$name.log" compile "$name" "$partial/bin/"
      if [[ -f $here/$name/keep ]]; then keep_folder "$name" "$partial"; fi
      chmod 755 "$partial"
      mv "$partial" "$folder"
    fi
    exec {lock}>&-
  fi
  echo "$folder/bin"
}

total=$#
number=0
for tool in "$@"; do
  [[ -f $here/$tool/go.mod ]] || die "no such tool: $tool (there are: $(cd "$here" && echo */))"
  number=$((number + 1))
  build "$tool" "$number of $total"
done
