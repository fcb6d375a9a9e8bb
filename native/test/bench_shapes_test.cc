// The models of the benchmarks are described by hand: the engine must read what they say.
#include <gtest/gtest.h>

#include "../bench/gpu/qwen_shape.h"
#include "../bench/random_checkpoint.h"

namespace llmservice::bench {
namespace {

void expect_read(const ModelShape& shape) {
  for (const WeightFormat format : {WeightFormat::kBf16, WeightFormat::kFp8}) {
    const CheckpointSource source = parse_checkpoint_source(description_of("/", shape, format));
    EXPECT_EQ(source.config.architecture, shape.described["architecture"]);
    EXPECT_GE(source.tensors.size(), shape.tensors.size());
  }
}

TEST(BenchShapes, EngineReadsEveryArchitecture) {
  for (const std::string_view name : benchmarked_architectures()) {
    SCOPED_TRACE(name);
    expect_read(shape_of(name));
  }
}

TEST(BenchShapes, EngineReadsModelsOfGpus) {
  expect_read(qwen_shape(kQwen27B));
  expect_read(qwen_shape(kTinyQwen));
}

}  // namespace
}  // namespace llmservice::bench
