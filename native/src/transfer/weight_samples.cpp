#include "transfer/weight_samples.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <map>

#include "model/stored_file.h"

namespace llmservice {
namespace {

constexpr uint64_t kSampleBytes = 256;

}  // namespace

uint64_t weight_samples(const CheckpointSource& source) {
  std::vector<const TensorPlace*> places;
  for (const TensorPlace& place : source.tensors) places.push_back(&place);
  std::ranges::sort(places, {},
                    [](const TensorPlace* place) { return std::pair(place->name, place->offset); });
  std::map<std::string, StoredFile> files;
  uint64_t sum = 0;
  for (const TensorPlace* const place : places) {
    const uint64_t count = std::min(place->bytes, kSampleBytes);
    std::byte sample[kSampleBytes];
    files.try_emplace(place->file, source.dir / place->file)
        .first->second.read(place->offset + (place->bytes - count) / 2, std::span(sample).first(count));
    sum = XXH3_64bits_withSeed(sample, count, sum);
  }
  return sum;
}

}  // namespace llmservice
