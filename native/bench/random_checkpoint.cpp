// Weights are streamed through a buffer of a few MiB.
#include "random_checkpoint.h"

#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace llmservice::bench {
namespace {

using nlohmann::json;

constexpr const char* kWeights = "model.safetensors";
constexpr const char* kDescription = "description.json";

json config_of(const ModelShape& shape, WeightFormat format) {
  json config = shape.config;
  if (format == WeightFormat::kFp8) {
    config["quantization_config"] = {
        {"quant_method", "fp8"}, {"fmt", "e4m3"}, {"weight_block_size", {128, 128}}};
    for (const TensorShape& tensor : shape.tensors) {
      if (tensor.quantizable || !tensor.name.ends_with(".weight")) continue;
      config["quantization_config"]["modules_to_not_convert"].push_back(
          tensor.name.substr(0, tensor.name.size() - std::string(".weight").size()));
    }
  }
  return config;
}

struct StoredTensor {
  std::string name;
  std::string dtype;
  std::vector<int64_t> dims;

  int64_t bytes() const {
    const int64_t each = dtype == "F32" ? 4 : dtype == "BF16" ? 2 : 1;
    return TensorShape{name, dims, false}.values() * each;
  }
};

std::vector<StoredTensor> stored_tensors(const ModelShape& shape, WeightFormat format) {
  std::vector<StoredTensor> stored;
  for (const TensorShape& tensor : shape.tensors) {
    const bool fp8 = format == WeightFormat::kFp8 && tensor.quantizable;
    stored.push_back({tensor.name, fp8 ? "F8_E4M3" : tensor.f32 ? "F32" : "BF16", tensor.dims});
    if (!fp8) continue;
    const std::vector<int64_t> blocks = {(tensor.dims[0] + 127) / 128, (tensor.dims[1] + 127) / 128};
    stored.push_back({tensor.name + "_scale_inv", "BF16", blocks});
  }
  return stored;
}

// At most 4 MiB of values near what trained weights have: BF16 in ±[0.008, 0.03], FP8 codes in ±[0.5, 2),
// scales near 0.01. Repeating it is as good as fresh values: nothing is cached or skipped by value. F32 has
// the bits of BF16 and zeros behind them.
std::string noise(const StoredTensor& tensor, std::mt19937& random) {
  std::string bytes(std::min<size_t>(size_t{4} << 20, (tensor.bytes() + 1) / 2 * 2), '\0');
  const bool scale = tensor.name.ends_with("_scale_inv");
  const bool norm = tensor.name.find("norm") != std::string::npos;
  for (size_t i = 0; i < bytes.size(); i += 2) {
    const uint32_t r = random();
    uint16_t bits = static_cast<uint16_t>((r & 0x8000) | (0x3c00 + (r & 0xff)));
    if (tensor.dtype == "F8_E4M3") {
      bits = static_cast<uint16_t>((r & 0x8f8f) | 0x3030);
    } else if (scale) {
      bits = static_cast<uint16_t>(0x3c20 + (r & 0x1f));
    } else if (norm) {
      bits = 0x3f80;
    }
    if (tensor.dtype == "F32" && i % 4 == 0) bits = 0;
    bytes[i] = static_cast<char>(bits);
    bytes[i + 1] = static_cast<char>(bits >> 8);
  }
  return bytes;
}

// The header of the safetensors file. Of each tensor, where its data begins behind the header's end.
json header_of(const std::vector<StoredTensor>& tensors) {
  json header;
  int64_t offset = 0;
  for (const StoredTensor& tensor : tensors) {
    header[tensor.name] = {
        {"dtype", tensor.dtype}, {"shape", tensor.dims}, {"data_offsets", {offset, offset + tensor.bytes()}}};
    offset += tensor.bytes();
  }
  return header;
}

json describe(const std::filesystem::path& dir, const ModelShape& shape,
              const std::vector<StoredTensor>& tensors) {
  json places = json::array();
  int64_t offset = 8 + static_cast<int64_t>(header_of(tensors).dump().size());
  for (const StoredTensor& tensor : tensors) {
    places.push_back({{"name", tensor.name},
                      {"file", kWeights},
                      {"storedName", tensor.name},
                      {"dtype", tensor.dtype},
                      {"shape", tensor.dims},
                      {"offset", offset},
                      {"bytes", tensor.bytes()},
                      {"restoration", nullptr},
                      {"quantizable", false}});
    offset += tensor.bytes();
  }
  return {{"dir", std::filesystem::absolute(dir)},
          {"shape", shape.described},
          {"quantization", "none"},
          {"tensors", places}};
}

void write_weights(const std::filesystem::path& path, const std::vector<StoredTensor>& tensors) {
  std::ofstream file(path, std::ios::binary);
  const std::string text = header_of(tensors).dump();
  const uint64_t length = text.size();
  file.write(reinterpret_cast<const char*>(&length), sizeof(length));
  file << text;
  std::mt19937 random(1);
  for (const StoredTensor& tensor : tensors) {
    const std::string values = noise(tensor, random);
    for (int64_t left = tensor.bytes(); left > 0; left -= static_cast<int64_t>(values.size())) {
      file.write(values.data(), std::min<int64_t>(left, static_cast<int64_t>(values.size())));
    }
  }
  if (!file.flush()) {
    throw std::runtime_error("Writing " + path.string() + " failed: is the disk full? A few GB are needed.");
  }
}

}  // namespace

std::string description_of(const std::filesystem::path& dir, const ModelShape& shape, WeightFormat format) {
  return describe(dir, shape, stored_tensors(shape, format)).dump();
}

void write_random_checkpoint(const std::filesystem::path& dir, const ModelShape& shape, WeightFormat format) {
  std::ofstream(dir / "config.json") << config_of(shape, format).dump(2);
  std::ofstream(dir / kDescription) << description_of(dir, shape, format);
  write_weights(dir / kWeights, stored_tensors(shape, format));
}

std::shared_ptr<const CheckpointSource> read_description(const std::filesystem::path& dir) {
  std::ifstream file(dir / kDescription, std::ios::binary);
  if (!file) throw std::runtime_error("There is no readable " + (dir / kDescription).string() + ".");
  std::stringstream text;
  text << file.rdbuf();
  return std::make_shared<CheckpointSource>(parse_checkpoint_source(text.str()));
}

RandomCheckpoint::RandomCheckpoint(const ModelShape& shape, WeightFormat format) {
  std::string name = (std::filesystem::temp_directory_path() / "llmservice-bench-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr)
    throw std::runtime_error("No temporary folder can be made at " + name + ".");
  dir_ = name;
  try {
    write_random_checkpoint(dir_, shape, format);
  } catch (...) {
    std::filesystem::remove_all(dir_);
    throw;
  }
}

RandomCheckpoint::~RandomCheckpoint() {
  std::error_code ignored;
  std::filesystem::remove_all(dir_, ignored);
}

}  // namespace llmservice::bench
