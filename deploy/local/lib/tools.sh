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
