#include "model/safetensors.h"

#include <bit>
#include <nlohmann/json.hpp>
#include <optional>

#include "ops/error.h"

namespace llmservice {
namespace {

using nlohmann::json;

constexpr uint64_t kLengthBytes = 8;
constexpr uint64_t kMaxHeaderBytes = 100'000'000;  // the format's own limit

static_assert(std::endian::native == std::endian::little, "safetensors data is read as it lies in the file");

[[noreturn]] void corrupt(const std::string& file, const std::string& what) {
  throw EngineError("CheckpointCorrupt", file + ": " + what);
}

// Bytes per element of the types whose size we can check; others are only ranged.
std::optional<uint64_t> element_bytes(const std::string& dtype) {
  if (dtype == "F64" || dtype == "I64" || dtype == "U64") return 8;
  if (dtype == "F32" || dtype == "I32" || dtype == "U32") return 4;
  if (dtype == "F16" || dtype == "BF16" || dtype == "I16" || dtype == "U16") return 2;
  if (dtype == "F8_E4M3" || dtype == "F8_E5M2" || dtype == "F8_E8M0") return 1;
  if (dtype == "I8" || dtype == "U8" || dtype == "BOOL") return 1;
  return std::nullopt;
}

bool is_count(const json& value) { return value.is_number_unsigned(); }

void check_size(const TensorEntry& entry, const std::string& tensor, const std::string& file) {
  const auto unit = element_bytes(entry.dtype);
  if (!unit) return;
  uint64_t expected = *unit;
  for (const int64_t dim : entry.shape) {
    if (__builtin_mul_overflow(expected, static_cast<uint64_t>(dim), &expected)) {
      corrupt(file, "tensor " + tensor + " has a shape that overflows.");
    }
  }
  if (expected != entry.bytes) {
    corrupt(file, "tensor " + tensor + " holds " + std::to_string(entry.bytes) +
                      " bytes where its shape and type (" + entry.dtype + ") need " +
                      std::to_string(expected) + ".");
  }
}

TensorEntry parse_entry(const json& value, const std::string& tensor, uint64_t data_start,
                        uint64_t file_bytes, const std::string& file) {
  const auto malformed = [&] { corrupt(file, "the header entry of tensor " + tensor + " is malformed."); };
  if (!value.is_object() || !value.contains("dtype") || !value["dtype"].is_string() ||
      !value.contains("shape") || !value["shape"].is_array() || !value.contains("data_offsets")) {
    malformed();
  }
  const json& offsets = value["data_offsets"];
  if (!offsets.is_array() || offsets.size() != 2 || !is_count(offsets[0]) || !is_count(offsets[1]))
    malformed();
  const auto begin = offsets[0].get<uint64_t>();
  const auto end = offsets[1].get<uint64_t>();
  if (begin > end) malformed();
  if (end > file_bytes - data_start) {
    corrupt(file, "the file ends at byte " + std::to_string(file_bytes) + " but tensor " + tensor +
                      " reaches byte " + std::to_string(data_start + end) + ": the file is truncated.");
  }
  TensorEntry entry{.dtype = value["dtype"], .shape = {}, .offset = data_start + begin, .bytes = end - begin};
  for (const json& dim : value["shape"]) {
    if (!is_count(dim) || dim.get<uint64_t>() > INT64_MAX) malformed();
    entry.shape.push_back(dim.get<int64_t>());
  }
  check_size(entry, tensor, file);
  return entry;
}

}  // namespace

std::map<std::string, TensorEntry> parse_safetensors_header(std::string_view text, uint64_t data_start,
                                                            uint64_t file_bytes, const std::string& file) {
  const json header = json::parse(text, nullptr, false);
  if (!header.is_object()) corrupt(file, "the safetensors header is not a JSON object.");
  std::map<std::string, TensorEntry> tensors;
  for (const auto& [name, value] : header.items()) {
    if (name == "__metadata__") continue;
    tensors.emplace(name, parse_entry(value, name, data_start, file_bytes, file));
  }
  return tensors;
}

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path) : StoredFile(path) {
  uint64_t header_bytes = 0;
  if (bytes() < kLengthBytes) corrupt(name(), "it is shorter than a safetensors header length.");
  read(0, std::as_writable_bytes(std::span(&header_bytes, 1)));
  if (header_bytes > kMaxHeaderBytes || header_bytes > bytes() - kLengthBytes) {
    corrupt(name(), "its header length (" + std::to_string(header_bytes) +
                        " bytes) does not fit the file of " + std::to_string(bytes()) + " bytes.");
  }
  std::string header(header_bytes, '\0');
  read(kLengthBytes, std::as_writable_bytes(std::span(header)));
  tensors_ = parse_safetensors_header(header, kLengthBytes + header_bytes, bytes(), name());
}

}  // namespace llmservice
