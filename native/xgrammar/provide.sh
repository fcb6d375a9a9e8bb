#!/usr/bin/env bash
# Puts XGrammar, the library behind structured output, into FOLDER as a static library and headers, unless it is there:
# native/xgrammar/provide.sh FOLDER. The sources are those of its package for Python, which has the C++ library whole,
# with the patches beside this script. Its own headers lie in FOLDER/internal, for src/grammar/compiled_bytes.cpp.
set -euo pipefail
folder=$1
version=0.2.8
sha256=8305646fd2b319d6c3003f51a1665e54cbbe9cba1fb636bc41d0b46434ccbb80
here=$(cd "$(dirname "$0")" && pwd)
made_of=$(cat "$here"/provide.sh "$here"/*.patch | sha256sum)

is_there() { [ "$(cat "$folder/made-of" 2>/dev/null)" = "$made_of" ]; }
! is_there || exit 0
mkdir -p "$(dirname "$folder")"
scratch=$(mktemp -d "$folder.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
source=$scratch/xgrammar-$version

echo "fetching XGrammar $version"
python=python3
# Making an environment takes longer than the download.
"$python" -m pip --version >/dev/null 2>&1 || { python3 -m venv "$scratch/venv" && python=$scratch/venv/bin/python; }
# pip asks a source package for its metadata, which takes its build backend, scikit-build-core: backend/ answers to that name.
PYTHONPATH=$here/backend PYTHONDONTWRITEBYTECODE=1 "$python" -m pip --quiet --disable-pip-version-check download \
  --no-deps --no-build-isolation --no-binary :all: --dest "$scratch" "xgrammar==$version"
echo "$sha256  $scratch/xgrammar-$version.tar.gz" | sha256sum --check --quiet
tar xzf "$scratch/xgrammar-$version.tar.gz" -C "$scratch"
for change in "$here"/*.patch; do patch --silent --strip 1 --directory "$source" <"$change"; done

echo "building XGrammar $version"
# Two units for two processors: a third of the time of a unit for each file goes into headers. First what runs for each token,
# then what reads schemas, expressions and grammars once. Lark's notation is not offered; what serves Python is left out.
each_token=(compiled_grammar earley_parser fsm grammar_compiler grammar_functor grammar_matcher suffix_automata tokenizer_info
  converter_ext/minimax_m3)
reading=(config fsm_builder grammar grammar_builder grammar_parser grammar_printer json_schema_converter regex_converter
  structural_tag testing converter_ext/{cohere,deepseek,glm,kimi_k3,minimax,qwen} support/{logging,recursion_guard})
cat >"$scratch/reading.cc" <<'END'
#include <stdexcept>

#include "lark_converter.h"

namespace xgrammar {
Grammar LarkToGrammar(const std::string&, const std::optional<TokenizerInfo>&, const std::vector<NamedGrammar>&) {
  throw std::logic_error("built without Lark");
}
}  // namespace xgrammar
END
printf '#include "%s.cc"\n' "${reading[@]}" >>"$scratch/reading.cc"
printf '#include "%s.cc"\n' "${each_token[@]}" >"$scratch/each_token.cc"

# compile UNIT OPTIMIZATION: the launcher is what CMake would take too.
compile() {
  ${CMAKE_CXX_COMPILER_LAUNCHER:-} "${CXX:-c++}" -std=c++17 "$2" -fPIC -w -DNDEBUG -DXGRAMMAR_ENABLE_CPPTRACE=0 \
    -DXGRAMMAR_ENABLE_INTERNAL_CHECK=0 -I "$source/cpp" -I "$source/include" -isystem "$source/3rdparty/picojson" \
    -isystem "$source/3rdparty/dlpack/include" -c "$scratch/$1.cc" -o "$scratch/$1.o"
}
compile each_token -O2 &
other=$!
# Reading takes some 0.2 ms a schema with either; -O1 saves a quarter of its compiler's time.
compile reading -O1 || { wait $other; exit 1; }
wait $other
mkdir -p "$scratch/installed/"{lib,include,internal/support}
"${AR:-ar}" rcs "$scratch/installed/lib/libxgrammar.a" "$scratch/each_token.o" "$scratch/reading.o"
cp -r "$source/include/xgrammar" "$source/3rdparty/dlpack/include/dlpack" "$scratch/installed/include"
cp "$source"/cpp/*.h "$source"/3rdparty/picojson/*.h "$scratch/installed/internal"
cp "$source"/cpp/support/*.h "$scratch/installed/internal/support"
echo "$made_of" >"$scratch/installed/made-of"
# One made of something else goes; another build of the same may have been faster.
is_there || rm -rf "$folder"
mv -T "$scratch/installed" "$folder" || is_there
