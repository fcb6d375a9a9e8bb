#include "model/checkpoint.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "model/gguf_tensors.h"
#include "ops/dtype.h"

namespace llmservice {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

std::optional<DType> dtype_named(const std::string& name) {
  using enum DType;
  for (const DType t : {kF32, kBF16, kF16, kF8E4M3, kF4E2M1, kQ8_0, kQ4_0, kQ4_K, kQ6_K}) {
    if (name == name_of(t)) return t;
  }
  return std::nullopt;
}

// Both NaN encodings of e4m3 have the seven low bits set.
bool has_fp8_nan(std::span<const std::byte> data) {
  uint32_t found = 0;
  for (const std::byte b : data) found |= (static_cast<uint8_t>(b) & 0x7f) == 0x7f ? 1u : 0u;
  return found != 0;
}

// The index's weight_map: tensor -> file name.
std::map<std::string, std::string> read_weight_map(const fs::path& index) {
  std::ifstream stream(index, std::ios::binary);
  const json root = json::parse(stream, nullptr, false);
  const auto malformed = [&](const std::string& what) {
    throw EngineError("CheckpointCorrupt", index.filename().string() + ": " + what);
  };
  if (!root.is_object() || !root.contains("weight_map") || !root["weight_map"].is_object()) {
    malformed("it has no weight_map object.");
  }
  std::map<std::string, std::string> map;
  for (const auto& [tensor, file] : root["weight_map"].items()) {
    if (!file.is_string() || fs::path(file.get<std::string>()).filename() != file.get<std::string>()) {
      malformed("the file of tensor " + tensor + " is not a plain file name.");
    }
    map.emplace(tensor, file.get<std::string>());
  }
  return map;
}

}  // namespace

std::string to_text(const std::vector<int64_t>& shape) {
  std::string text = "[";
  for (const int64_t dim : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(dim);
  return text + "]";
}

void Tensor::read(uint64_t at, std::span<std::byte> out) const {
  if (arrivals != nullptr && derived) arrivals->wait_for(file->name(), offset, bytes);
  if (arrivals != nullptr && !derived) arrivals->wait_for(file->name(), offset + at, out.size());
  file->read(offset + at, out);
  if (dtype == DType::kF8E4M3 && has_fp8_nan(out)) {
    throw EngineError("CheckpointCorrupt",
                      file->name() + ": tensor " + name + " holds FP8 values that are not numbers.");
  }
  if (is_block_type(dtype) && !has_finite_scales(dtype, out)) {
    throw EngineError("CheckpointCorrupt",
                      file->name() + ": tensor " + name + " has a block whose scale is not a finite number.");
  }
}

Checkpoint::Checkpoint(const fs::path& dir, const Arrivals* arrivals) : arrivals_(arrivals) {
  const fs::path single = dir / "model.safetensors";
  const fs::path index = dir / "model.safetensors.index.json";
  if (const auto gguf = find_gguf(dir)) {
    add_gguf(*gguf);
  } else if (fs::exists(single)) {
    add_file(single);
  } else if (fs::exists(index)) {
    open_shards(dir, index);
  } else {
    throw EngineError("CheckpointIncomplete", dir.string() +
                                                  " holds neither model.safetensors nor "
                                                  "model.safetensors.index.json, nor a .gguf file.");
  }
}

void Checkpoint::open_shards(const fs::path& dir, const fs::path& index) {
  const auto map = read_weight_map(index);
  std::set<std::string> names;
  for (const auto& [tensor, file] : map) names.insert(file);
  std::string missing;
  for (const auto& name : names) {
    if (!fs::exists(dir / name)) missing += (missing.empty() ? "" : ", ") + name;
  }
  if (!missing.empty()) {
    throw EngineError("CheckpointIncomplete",
                      index.filename().string() + " names files that are not there: " + missing + ".");
  }
  for (const auto& name : names) add_file(dir / name);
  for (const auto& [tensor, file] : map) {
    const auto place = where_.find(tensor);
    if (place == where_.end() || place->second.file->name() != file) {
      throw EngineError("CheckpointIncomplete",
                        file + ": tensor " + tensor + " is not in the file that the index names for it.");
    }
  }
}

void Checkpoint::add_file(const fs::path& path) {
  auto file = std::make_unique<SafetensorsFile>(path);
  for (const auto& [name, entry] : file->tensors()) where_[name] = {file.get(), entry};
  files_.push_back(std::move(file));
}

void Checkpoint::add_gguf(const fs::path& path) {
  GgufTensors gguf = read_gguf_tensors(path);
  for (auto& [name, entry, file] : gguf.tensors) where_[name] = {file, std::move(entry)};
  files_ = std::move(gguf.files);
}

Tensor Checkpoint::tensor(const std::string& name) const {
  const auto place = where_.find(name);
  if (place == where_.end()) {
    throw EngineError("CheckpointIncomplete", "The checkpoint has no tensor " + name + ".");
  }
  const auto& [file, entry] = place->second;
  const auto dtype = dtype_named(entry.dtype);
  // Blocks are GGUF's, whose entries alone have a name of their own: nothing has looked at others' sizes.
  if (!dtype || (is_block_type(*dtype) && entry.stored_name.empty())) {
    throw EngineError("UnsupportedQuantization",
                      file->name() + ": tensor " + name + " has type " + entry.dtype +
                          "; supported are F32, BF16, F16, F8_E4M3 and U8 (NVFP4).");
  }
  return {.name = entry.stored_name.empty() ? name : entry.stored_name,
          .dtype = *dtype,
          .shape = entry.shape,
          .offset = entry.offset,
          .bytes = entry.bytes,
          .file = file,
          .derived = entry.derived,
          .arrivals = arrivals_};
}

Tensor Checkpoint::tensor(const std::string& name, const std::vector<int64_t>& shape) const {
  Tensor found = tensor(name);
  if (found.shape != shape) {
    throw EngineError("CheckpointCorrupt", found.file->name() + ": tensor " + name + " has shape " +
                                               to_text(found.shape) + " where config.json implies " +
                                               to_text(shape) + ".");
  }
  return found;
}

std::vector<std::string> Checkpoint::names() const {
  std::vector<std::string> names;
  for (const auto& [name, place] : where_) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

uint64_t Checkpoint::bytes_of(const std::function<bool(const std::string&)>& wanted) const {
  uint64_t total = 0;
  for (const auto& [name, place] : where_) {
    if (wanted(name)) total += place.entry.bytes;
  }
  return total;
}

}  // namespace llmservice
