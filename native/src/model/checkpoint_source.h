// What is passed of a checkpoint, so that neither config.json nor a header is parsed here: the model, and
// where each tensor lies. The package that reads checkpoints writes it, for the memory plan and for the
// engine alike.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/config.h"

namespace llmservice {

// What unquantized matrices become while they are read (load_quantizer.h).
enum class LoadQuantization : uint8_t { kNone, kFp8, kInt8 };

// How a tensor differs from what the engine reads, which reading undoes (restored_tensor.h): what a converter
// did to its values, or how experts lie that are stored by the columns of their matrices or in two tensors;
// those of kPairedExperts and their biases have gate and up in turn, not one after the other; kBlocks, a
// matrix of MXFP4 whose codes and scales lie apart; kPowersOfTwo, scales of which the file has exponents;
// kFnuz, codes in e4m3fnuz.
enum class Restoration : uint8_t {
  kNone,
  kHalvedRows,
  kLogOfDecay,
  kExperts,
  kPairedExperts,
  kBlocks,
  kPowersOfTwo,
  kFnuz
};

// What a tensor is of blocks of NVFP4 (nvfp4_blocks.h); kOnes: nothing, but the scale that such a matrix does
// without.
enum class BlockPart : uint8_t { kCodes, kScales, kOnes };

// Where the scales lie that are stored apart from their codes.
struct ScalesPlace {
  std::string file;
  uint64_t offset;
};

// One of the tensors that a packed matrix is stored in.
struct PackedPart {
  std::string name;
  std::string file;
  std::string dtype;
  std::vector<int64_t> shape;
  uint64_t offset;
  uint64_t bytes;
};

// How the integers of a packed matrix (N, K) lie: kColumns, words of neighbouring columns (K / per word, N),
// as GPTQ has them; kInterleaved, words of neighbouring rows (K, N / 8), as AWQ has them; kRows, words of
// neighbouring columns (N, K / per word), and kBytes, signed bytes (N, K), as compressed-tensors has them.
enum class PackedLayout : uint8_t { kColumns, kInterleaved, kRows, kBytes };

struct PackedSource {
  PackedLayout layout;
  int64_t bits;           // 4 or 8
  int64_t group_columns;  // that share a scale
  int64_t zero_offset;    // what is added to stored zero points
  bool reordered;         // columns lie in any order, and `groups` says of which group each is
  PackedPart codes;
  PackedPart scales;  // F16 or BF16; (N, groups) of the last two layouts, (groups, N) of the others
  std::optional<PackedPart> zeros;   // without: half the range
  std::optional<PackedPart> groups;  // (K): of each column, its group
};

struct TensorPlace {
  std::string name;
  std::string file;         // in the checkpoint's folder
  std::string stored_name;  // in that file, for messages
  std::string dtype;        // as safetensors and GGUF tools call it: "BF16", "F8_E4M3", ...
  std::vector<int64_t> shape;
  uint64_t offset;  // from the start of the file
  uint64_t bytes;
  Restoration restoration = Restoration::kNone;
  std::optional<PackedSource> packed = std::nullopt;  // `dtype` is INT4 or INT8: what reading makes of it
  bool quantizable = false;                           // may become what CheckpointSource::quantization says
  std::optional<ScalesPlace> scales = {};
  std::optional<BlockPart> block_part = {};  // before `restoration`
};

struct CheckpointSource {
  std::filesystem::path dir;
  ModelConfig config;
  LoadQuantization quantization = LoadQuantization::kNone;
  std::vector<TensorPlace> tensors;
  std::optional<Eagle3Config> eagle3 = std::nullopt;  // of an EAGLE-3 draft model
};

// Reads the JSON that native/ts/describe-checkpoint.ts writes. Throws std::invalid_argument naming the field
// for anything else, unknown fields included: both are built together.
CheckpointSource parse_checkpoint_source(std::string_view json);

}  // namespace llmservice
