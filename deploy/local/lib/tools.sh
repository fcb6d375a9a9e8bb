# Where the programs built by tools/build.sh lie.

# find_tools NAME...: sets NAME_bin (with _ for -) for each, building what is missing; kubectl and helm go to .local/bin.
find_tools() {
  local folders name number=0 program
  folders=$("$local_folder/tools/build.sh" "$@") || die 'a tool could not be built'
  mkdir -p "$repository/.local/bin"
  for name in "$@"; do
    number=$((number + 1))
    declare -g "${name//-/_}_bin=$(sed -n "${number}p" <<<"$folders")"
  done
  for program in "${kubernetes_bin:-}/kubectl" "${helm_bin:-}/helm"; do
    [[ ! -x $program ]] || ln -sfn "$program" "$repository/.local/bin/$(basename "$program")"
  done
}

# fetch_modules NAME...: the Go modules that building these takes; none of one that has been built, perhaps in another version.
fetch_modules() {
  local name target
  for name in "$@"; do
    ! compgen -G "$cache/tools/$name-*" >/dev/null || continue
    target=tool
    [[ ! -f $local_folder/tools/$name/main.go ]] || target=.
    (cd "$local_folder/tools/$name" && CGO_ENABLED=0 go list -mod=readonly -deps "$target" >/dev/null)
  done
}

# kubectl and helm, for a cluster that exists: those of the machine if it has them.
find_clients() {
  command -v kubectl >/dev/null || find_tools kubernetes
  command -v helm >/dev/null || find_tools helm
}
