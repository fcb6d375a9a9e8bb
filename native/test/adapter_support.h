// Adapters of random weights for the tiny models, as engines load them.
#pragma once

#include "bridge/structs.h"
#include "tiny_checkpoint.h"

namespace llmservice::testing {

// Of a tiny llama's linear layers, in one part and in BF16.
inline AdapterPart tiny_adapter(const TempDir& dir, int32_t number, int32_t rank) {
  std::mt19937 random(100 + number);
  AdapterPart part{
      .number = number, .file = dir.path() / ("adapter-" + std::to_string(number)), .last = true};
  std::string bytes;
  const auto put = [&](int64_t rows, int64_t cols, float spread) {
    const auto offset = static_cast<int64_t>(bytes.size());
    bytes += bf16_tensor({rows, cols}, 0, spread, random).bytes;
    return offset;
  };
  for (int32_t layer = 0; layer < 2; ++layer) {
    for (const auto& [projection, inputs, outputs] :
         {std::tuple{Projection::kQProj, 64, 64}, std::tuple{Projection::kKProj, 64, 32},
          std::tuple{Projection::kVProj, 64, 32}, std::tuple{Projection::kOProj, 64, 64},
          std::tuple{Projection::kGateProj, 64, 96}, std::tuple{Projection::kUpProj, 64, 96},
          std::tuple{Projection::kDownProj, 96, 64}}) {
      AdapterPair pair{.layer = layer, .projection = projection, .rank = rank, .scale = 0.5f};
      pair.a_dtype = pair.b_dtype = AdapterDtype::kBF16;
      pair.a_offset = put(rank, inputs, 0.2f);
      pair.b_offset = put(outputs, rank, 0.2f);
      part.pairs.push_back(pair);
    }
  }
  dir.write("adapter-" + std::to_string(number), bytes);
  return part;
}

}  // namespace llmservice::testing
