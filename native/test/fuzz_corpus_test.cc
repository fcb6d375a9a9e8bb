// The inputs that fuzzing starts from, once each: the loaders stay as robust as they were found to be.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "targets.h"

namespace llmservice {
namespace {

using Target = void (*)(std::span<const uint8_t>);

class FuzzCorpus : public testing::TestWithParam<std::pair<const char*, Target>> {};

TEST_P(FuzzCorpus, EveryInputIsAcceptedWholeOrRefused) {
  const auto& [name, target] = GetParam();
  int inputs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(FUZZ_CORPUS) / name)) {
    SCOPED_TRACE(entry.path().string());
    std::ifstream file(entry.path(), std::ios::binary);
    const std::vector<uint8_t> input{std::istreambuf_iterator<char>(file), {}};
    target(input);
    ++inputs;
  }
  EXPECT_GT(inputs, 3);
}

INSTANTIATE_TEST_SUITE_P(Loaders, FuzzCorpus,
                         testing::Values(std::pair("config", &fuzz_config),
                                         std::pair("safetensors", &fuzz_safetensors),
                                         std::pair("gguf", &fuzz_gguf)),
                         [](const auto& info) { return info.param.first; });

}  // namespace
}  // namespace llmservice
