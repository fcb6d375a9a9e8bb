// Matrices whose integers are packed into words, as GPTQ, AWQ and compressed-tensors store them, read as rows
// of blocks of kInt4 or kInt8 (ops/block_types.h). Which tensors they are, and that their types and shapes
// fit, was checked where headers are read (checkpoint/src/weights/packed-tensors.ts).
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "model/arrivals.h"
#include "model/checkpoint_source.h"
#include "model/stored_file.h"

namespace llmservice {

// The rows that were unpacked last, of whichever tensor: output channels lie side by side in most formats, so
// that many rows are unpacked at once. Tensors of a checkpoint are read one after the other, and share it.
struct UnpackedRows {
  std::mutex mutex;
  const void* owner = nullptr;
  int64_t first = 0;
  std::vector<std::byte> bytes;
  // Of the tensor `placed`: where each of its columns goes.
  const void* placed = nullptr;
  std::vector<int32_t> places;
};

using OpenFile = std::function<const TensorFile*(const std::string& file)>;

// `place.packed` says where the parts lie. Reads throw CheckpointCorrupt for zero points and groups that
// cannot be.
std::unique_ptr<TensorFile> packed_tensor(const TensorPlace& place, const OpenFile& open,
                                          const Arrivals* arrivals, std::shared_ptr<UnpackedRows> unpacked);

}  // namespace llmservice
