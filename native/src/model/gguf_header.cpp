#include "model/gguf_header.h"

#include <algorithm>
#include <array>
#include <bit>

#include "model/gguf_reader.h"
#include "model/gguf_types.h"
#include "ops/dtype.h"

namespace llmservice {
namespace {

constexpr uint64_t kMaxKeys = 65'536;
constexpr uint64_t kMaxTensors = 262'144;
constexpr uint64_t kMaxText = 4'096;  // longer ones are the tokenizer's and the licence's
constexpr uint64_t kMaxAlignment = 1 << 20;
constexpr uint32_t kMaxDims = 4;

// The format's value types.
enum ValueType : uint32_t {
  kU8,
  kI8,
  kU16,
  kI16,
  kU32,
  kI32,
  kFloat,
  kBool,
  kText,
  kArray,
  kU64,
  kI64,
  kDouble
};

// Bytes of a value of fixed size; 0 for others.
uint64_t value_bytes(uint32_t type) {
  constexpr std::array<uint64_t, 13> kBytes = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  return type < kBytes.size() ? kBytes[type] : 0;
}

class HeaderParser {
 public:
  HeaderParser(const TensorReader& read, uint64_t file_bytes, const std::string& file)
      : reader_(read, file_bytes, file) {}

  GgufHeader parse() {
    expect_format();
    const auto tensors = reader_.number<uint64_t>("the number of tensors");
    const auto keys = reader_.number<uint64_t>("the number of keys");
    if (keys > kMaxKeys)
      reader_.corrupt("it claims " + std::to_string(keys) + " keys; at most " + std::to_string(kMaxKeys) +
                      " are read.");
    if (tensors > kMaxTensors)
      reader_.corrupt("it claims " + std::to_string(tensors) + " tensors; at most " +
                      std::to_string(kMaxTensors) + " are read.");
    for (uint64_t i = 0; i < keys; ++i) read_value();
    for (uint64_t i = 0; i < tensors; ++i) read_tensor();
    place_tensors();
    return std::move(header_);
  }

 private:
  void expect_format() {
    if (reader_.end() < 24 || reader_.text(4, "the file's mark") != "GGUF")
      reader_.corrupt("it does not begin with GGUF, as GGUF files do.");
    const auto version = reader_.number<uint32_t>("the version");
    if (version == 2 || version == 3) return;
    const bool swapped = version != 0 && (version & 0xffff) == 0;
    reader_.corrupt(swapped
                        ? "it is big-endian; convert it on a little-endian machine."
                        : "it has version " + std::to_string(version) + " of the format; 2 and 3 are read.");
  }

  void read_value() {
    const std::string key = reader_.name("the name of a key");
    const std::string what = "the value of key " + key;
    const auto type = reader_.number<uint32_t>(what);
    if (header_.values.contains(key)) reader_.corrupt("key " + key + " is there twice.");
    switch (type) {
      case kText:
        return read_text(key, what);
      case kArray:
        return skip_array(what);
      case kFloat:
        return keep(key, static_cast<double>(reader_.number<float>(what)));
      case kDouble:
        return keep(key, reader_.number<double>(what));
      case kBool:
        return keep(key, reader_.number<uint8_t>(what) != 0);
      case kU8:
        return keep(key, int64_t{reader_.number<uint8_t>(what)});
      case kI8:
        return keep(key, int64_t{reader_.number<int8_t>(what)});
      case kU16:
        return keep(key, int64_t{reader_.number<uint16_t>(what)});
      case kI16:
        return keep(key, int64_t{reader_.number<int16_t>(what)});
      case kU32:
        return keep(key, int64_t{reader_.number<uint32_t>(what)});
      case kI32:
        return keep(key, int64_t{reader_.number<int32_t>(what)});
      case kU64:
        return keep(key, static_cast<int64_t>(std::min<uint64_t>(reader_.number<uint64_t>(what), INT64_MAX)));
      case kI64:
        return keep(key, reader_.number<int64_t>(what));
      default:
        reader_.corrupt(what + " has type " + std::to_string(type) + ", which the format does not have.");
    }
  }

  void keep(const std::string& key, GgufValue value) { header_.values.emplace(key, std::move(value)); }

  void read_text(const std::string& key, const std::string& what) {
    const auto length = reader_.number<uint64_t>(what);
    if (length > kMaxText) return reader_.skip(length, what);
    keep(key, reader_.text(length, what));
  }

  void skip_array(const std::string& what) {
    const auto type = reader_.number<uint32_t>(what);
    const auto count = reader_.number<uint64_t>(what);
    if (type == kText) {
      reader_.need(count > reader_.end() / 8 ? reader_.end() : count * 8, what);  // each has its length
      for (uint64_t i = 0; i < count; ++i) reader_.skip(reader_.number<uint64_t>(what), what);
      return;
    }
    const uint64_t unit = value_bytes(type);
    if (unit == 0)
      reader_.corrupt(what + " is an array of type " + std::to_string(type) +
                      "; arrays of numbers, flags and texts are read.");
    if (count > reader_.left() / unit) reader_.need(reader_.end(), what);
    reader_.skip(count * unit, what);
  }

  void read_tensor() {
    const std::string tensor = reader_.name("the name of a tensor");
    const std::string what = "the entry of tensor " + tensor;
    const auto dims = reader_.number<uint32_t>(what);
    if (dims == 0 || dims > kMaxDims)
      reader_.corrupt("tensor " + tensor + " has " + std::to_string(dims) + " dimensions; expected 1 to 4.");
    TensorEntry entry{.dtype = {}, .shape = std::vector<int64_t>(dims), .offset = 0, .bytes = 0};
    uint64_t elements = 1;
    for (uint32_t i = dims; i-- > 0;) {  // innermost first in the file
      const auto side = reader_.number<uint64_t>(what);
      if (side == 0 || __builtin_mul_overflow(elements, side, &elements) || elements > INT64_MAX / 8) {
        reader_.corrupt("tensor " + tensor + " has a side of " + std::to_string(side) +
                        ", which is 0 or makes it larger than any memory.");
      }
      entry.shape[i] = static_cast<int64_t>(side);
    }
    const auto number_of_type = reader_.number<uint32_t>(what);
    entry.offset = reader_.number<uint64_t>(what);
    entry.dtype = gguf_type_name(number_of_type);
    if (const auto type = gguf_type(number_of_type))
      entry.bytes = stored_bytes(*type, entry.shape.back(), elements, tensor);
    entry.stored_name = tensor;
    if (!header_.tensors.emplace(tensor, std::move(entry)).second)
      reader_.corrupt("tensor " + tensor + " is there twice.");
  }

  uint64_t stored_bytes(DType type, int64_t columns, uint64_t elements, const std::string& tensor) const {
    const int64_t unit = block_layout(type).columns;
    if (columns % unit != 0) {
      reader_.corrupt("tensor " + tensor + " has rows of " + std::to_string(columns) +
                      " columns, which blocks of " + std::to_string(unit) + " (" + name_of(type) +
                      ") do not divide.");
    }
    return static_cast<uint64_t>(bytes_of(type, static_cast<int64_t>(elements)));
  }

  // Data begins at the next multiple of the alignment; offsets count from there.
  void place_tensors() {
    const auto found = header_.values.find("general.alignment");
    int64_t alignment = 32;
    if (found != header_.values.end()) {
      const auto* given = std::get_if<int64_t>(&found->second);
      alignment = given != nullptr ? *given : 0;
    }
    if (alignment < 8 || alignment > static_cast<int64_t>(kMaxAlignment) ||
        !std::has_single_bit(static_cast<uint64_t>(alignment))) {
      reader_.corrupt("key general.alignment is " + std::to_string(alignment) +
                      "; expected a power of two from 8 to 1048576.");
    }
    const auto step = static_cast<uint64_t>(alignment);
    const uint64_t end = reader_.end();
    const uint64_t data = (reader_.at() + step - 1) / step * step;
    for (auto& [tensor, entry] : header_.tensors) {
      if (entry.offset % step != 0)
        reader_.corrupt("tensor " + tensor + " lies at offset " + std::to_string(entry.offset) +
                        ", which is not a multiple of the alignment of " + std::to_string(step) + ".");
      if (data > end || entry.offset > end - data || entry.bytes > end - data - entry.offset) {
        reader_.corrupt("the file ends at byte " + std::to_string(end) + " but tensor " + tensor + " takes " +
                        std::to_string(entry.bytes) + " bytes at " + std::to_string(data) + " + " +
                        std::to_string(entry.offset) + ": the file is truncated.");
      }
      entry.offset += data;
    }
  }

  GgufReader reader_;
  GgufHeader header_;
};

}  // namespace

GgufHeader parse_gguf_header(const TensorReader& read, uint64_t file_bytes, const std::string& file) {
  return HeaderParser(read, file_bytes, file).parse();
}

}  // namespace llmservice
