#!/usr/bin/env bash
# Builds the cluster's programs from their Go modules: `build.sh NAME...` builds (or finds) each and prints its folder.
# A build lands in CACHE/tools/NAME-HASH, HASH over everything it is made of, so that all checkouts on a machine share it.
# Safe to run at once from several places: a lock per build, and a rename as the last step.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=../lib/progress.sh
source "$here/../lib/progress.sh"
cache=${LLMSERVICE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/llmservice}/tools

# Made of its own folder, and of the module that most share (go.mod) unless it is a module itself.
folder_of() {
  local name=$1 hash
  hash=$(cd "$here" && { if [[ ! -f $name/go.mod ]]; then cat go.mod go.sum; fi; cat build.sh; cat "$name"/* 2>/dev/null; } | sha256sum | cut -c1-12)
  echo "$cache/$name-$hash"
}

# What `go build` is to build of a tool: its folder, if that has a main.go, or else the commands that go.mod names for it.
packages_of() {
  if [[ -f $here/$1/main.go ]]; then
    if [[ -f $here/$1/go.mod ]]; then echo .; else echo "./$1"; fi
  elif [[ -f $here/$1/go.mod ]]; then
    echo tool
  else
    awk -v name="$1" '$2 == "//" && $3 == name {print $1}' "$here/go.mod"
  fi
}

compile() {
  local name=$1 out=$2 flags='-s -w' packages
  mapfile -t packages < <(packages_of "$name")
  if [[ -f $here/$name/ldflags ]]; then flags+=" $(<"$here/$name/ldflags")"; fi
  if [[ -f $here/$name/go.mod ]]; then cd "$here/$name"; else cd "$here"; fi
  if [[ -f $here/$name/main.go ]]; then out=$out/$name; fi
  CGO_ENABLED=0 GOFLAGS=-mod=readonly nice -n 5 go build -v -p "${LLMSERVICE_BUILD_JOBS:-$(nproc)}" -trimpath -buildvcs=false \
    -ldflags "$flags" -o "$out" "${packages[@]}"
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
  [[ $(packages_of "$tool") ]] || die "no such tool: $tool (those of $here/go.mod, and its folders)"
  number=$((number + 1))
  build "$tool" "$number of $total"
done
