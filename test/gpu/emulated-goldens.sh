#!/usr/bin/env bash
# Golden models on the emulated GPU: test/gpu/emulated-goldens.sh [LANES [MODEL...]], LANES: of its warps, "32", "64" or
# "32 64", as is without. Without MODEL one of each family whose layers are not llama's, some minutes each on one core.
# Exit status 1 if a model is not as it must be.
set -euo pipefail
cd "$(dirname "$0")/../.."
read -ra lanes <<<"${1:-32 64}"
models=("${@:2}")
((${#models[@]})) ||
  models=(gemma2-bf16 gemma3_text-bf16 gemma4_text-bf16 gemma4-bf16-moe gemma4_text-gguf-q8_0 glm4_moe-bf16 gpt_oss-mxfp4
    encoders/{eurobert-bf16,gemma3_text-bidirectional,modernbert-bf16,xlm-roberta-bf16})
folder=.build/gpu-tests/emulator

mkdir -p "$folder"
cmake -S native -B "$folder" -G Ninja -DBUILD_TESTS=ON >"$folder.log" 2>&1 || { cat "$folder.log" >&2; exit 1; }
status=0
for size in "${lanes[@]}"; do
  library=llmservice_emulator
  [[ $size == 32 ]] || library+=_$size
  ninja -C "$folder" -j "${JOBS:-$(nproc)}" "$library" >"$folder.log" || { cat "$folder.log" >&2; exit 1; }
  # Engines find a vendor's library beside the addon.
  beside=$folder/$size-lanes
  mkdir -p "$beside"
  cp native/build/Release/llmservice_native.node "$beside"
  cp "$folder/$library.so" "$beside/llmservice_emulator.so"
  echo "on warps of $size lanes:"
  EMULATED_DEVICES=2 LLMSERVICE_NATIVE_ADDON=$PWD/$beside/llmservice_native.node npx tsx test/gpu/goldens.ts test/golden/models/ emulator \
    "$beside/goldens.jsonl" "${models[@]}" || status=1
done
exit "$status"
