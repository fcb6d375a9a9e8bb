#!/usr/bin/env bash
# Puts XGrammar, the library behind structured output, into FOLDER as a static library and headers, unless it is there:
# native/xgrammar/provide.sh FOLDER. The sources are those of its package for Python, which has the C++ library whole,
# with the patches beside this script. Its own headers lie in FOLDER/internal, for src/grammar/compiled_bytes.cpp.
set -euo pipefail
folder=$1
version=0.2.8
sha256=8305646fd2b319d6c3003f51a1665e54cbbe9cba1fb636bc41d0b46434ccbb80
here=$(cd "$(dirname "$0")" && pwd)
made_of=$(cat "$here"/* | sha256sum)

is_there() { [ "$(cat "$folder/made-of" 2>/dev/null)" = "$made_of" ]; }
! is_there || exit 0
mkdir -p "$(dirname "$folder")"
scratch=$(mktemp -d "$folder.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
echo "fetching XGrammar $version"
python3 -m venv "$scratch/venv"
pip=("$scratch/venv/bin/pip" --quiet --disable-pip-version-check)
# pip asks a source package for its metadata, which takes the package's build tools; nothing is built by them.
"${pip[@]}" install --no-deps --require-hashes --requirement "$here/build-tools.txt"
"${pip[@]}" download --no-deps --no-build-isolation --no-binary :all: --dest "$scratch" "xgrammar==$version"
echo "$sha256  $scratch/xgrammar-$version.tar.gz" | sha256sum --check --quiet
tar xzf "$scratch/xgrammar-$version.tar.gz" -C "$scratch"
for change in "$here"/*.patch; do patch --silent --strip 1 --directory "$scratch/xgrammar-$version" <"$change"; done
# Grammars in Lark's notation are not offered.
cat >"$scratch/xgrammar-$version/cpp/lark_converter.cc" <<'END'
#include "lark_converter.h"

#include <stdexcept>

namespace xgrammar {

Grammar LarkToGrammar(const std::string&, const std::optional<TokenizerInfo>&, const std::vector<NamedGrammar>&) {
  throw std::logic_error("built without Lark");
}

}  // namespace xgrammar
END
echo "building XGrammar $version"
# In place of the package's own choice of parts.
mkdir "$scratch/build"
echo 'set(XGRAMMAR_BUILD_PYTHON_BINDINGS OFF)' >"$scratch/build/config.cmake"
# Without its link-time optimization, which every program that links it would pay for. Several files are compiled as one:
# a third of the time goes into headers.
cmake -S "$scratch/xgrammar-$version" -B "$scratch/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_CXX_FLAGS='-fno-lto -w' -DCMAKE_CXX_FLAGS_RELEASE='-O2 -DNDEBUG' \
  -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=7 \
  -DCMAKE_INSTALL_PREFIX="$scratch/installed" -DCMAKE_INSTALL_LIBDIR=lib
ninja -C "$scratch/build" -j "$(nproc)" install
mkdir "$scratch/installed/internal"
(cd "$scratch/xgrammar-$version/cpp" && tar c ./*.h support/*.h) | tar x -C "$scratch/installed/internal"
cp "$scratch/xgrammar-$version"/3rdparty/picojson/*.h "$scratch/installed/internal"
echo "$made_of" >"$scratch/installed/made-of"
# One made of something else goes; another build of the same may have been faster.
is_there || rm -rf "$folder"
mv -T "$scratch/installed" "$folder" || is_there
