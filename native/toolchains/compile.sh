#!/usr/bin/env bash
# Compiles one kernel file, or takes what an earlier run made of the same content: compile.sh TOOLCHAIN OBJECT COMMAND...
# TOOLCHAIN is a file that stands for the compiler. Writes OBJECT, OBJECT.d (what was read) and OBJECT.log (what the
# compiler said: registers, spills); warnings are shown. Results are kept in .build/kernel-cache.
set -euo pipefail
toolchain=$1 object=$2
shift 2
key=$({ echo "$@" && cat "$toolchain" "$0"; } | sha256sum | cut -c1-16)
cache=$(cd "$(dirname "$0")/../.." && pwd)/.build/kernel-cache/$key
mkdir -p "$cache" "$(dirname "$object")"

# One result per content of the files that were read: NAME.inputs has their hashes.
for inputs in "$cache"/*.inputs; do
  if [ -e "$inputs" ] && sha256sum --check --status "$inputs" 2>/dev/null; then
    touch "$inputs"
    cp "${inputs%.inputs}.o" "$object"
    cp "${inputs%.inputs}.log" "$object.log"
    # Another build folder may have made it.
    sed "1s|^[^:]*:|$object:|" "${inputs%.inputs}.d" >"$object.d"
    exit 0
  fi
done
if ! "$@" -c -o "$object" -MD -MF "$object.d" 2>"$object.log"; then
  cat "$object.log" >&2
  exit 1
fi
grep -A 5 'warning' "$object.log" >&2 || true
hashes=$(sed -e '1s/^[^:]*://' -e 's/\\$//' "$object.d" | tr -s ' ' '\n' | sed '/^$/d' | sort -u | xargs sha256sum)
name=$cache/$(sha256sum <<<"$hashes" | cut -c1-16)
cp "$object" "$name.o"
cp "$object.log" "$name.log"
cp "$object.d" "$name.d"
# Last and whole: a result without it is none.
echo "$hashes" >"$name.hashes"
mv "$name.hashes" "$name.inputs"
# The results that were not used for longest go.
find "$cache" -name '*.inputs' -printf '%T@ %p\n' | sort -rn | tail -n +5 | while read -r _ old; do rm -f "${old%.inputs}".*; done
