#include "model/gguf_header.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>

#include "ops/dtype.h"

namespace llmservice {
namespace {

constexpr uint64_t kMaxKeys = 65'536;
constexpr uint64_t kMaxTensors = 262'144;
constexpr uint64_t kMaxName = 1'024;
constexpr uint64_t kMaxText = 4'096;  // longer ones are the tokenizer's and the licence's
constexpr uint64_t kMaxAlignment = 1 << 20;
constexpr uint32_t kMaxDims = 4;
constexpr uint64_t kWindowBytes = 64 << 10;

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

// Numbers of the types in the file.
constexpr std::array<std::pair<uint32_t, DType>, 7> kTypes = {{{0, DType::kF32},
                                                               {1, DType::kF16},
                                                               {2, DType::kQ4_0},
                                                               {8, DType::kQ8_0},
                                                               {12, DType::kQ4_K},
                                                               {14, DType::kQ6_K},
                                                               {30, DType::kBF16}}};

std::optional<DType> type_numbered(uint32_t number) {
  const auto found = std::ranges::find(kTypes, number, &std::pair<uint32_t, DType>::first);
  return found == kTypes.end() ? std::nullopt : std::optional(found->second);
}

// What the types are called that the engine does not read.
std::string foreign_type(uint32_t number) {
  static const std::map<uint32_t, const char*> names = {
      {3, "Q4_1"},     {6, "Q5_0"},   {7, "Q5_1"},    {9, "Q8_1"},     {10, "Q2_K"},
      {11, "Q3_K"},    {13, "Q5_K"},  {15, "Q8_K"},   {16, "IQ2_XXS"}, {17, "IQ2_XS"},
      {18, "IQ3_XXS"}, {19, "IQ1_S"}, {20, "IQ4_NL"}, {21, "IQ3_S"},   {22, "IQ2_S"},
      {23, "IQ4_XS"},  {24, "I8"},    {25, "I16"},    {26, "I32"},     {27, "I64"},
      {28, "F64"},     {29, "IQ1_M"}, {34, "TQ1_0"},  {35, "TQ2_0"},   {39, "MXFP4"}};
  const auto found = names.find(number);
  return found == names.end() ? "number " + std::to_string(number) : found->second;
}

class HeaderParser {
 public:
  HeaderParser(const TensorReader& read, uint64_t file_bytes, const std::string& file)
      : read_(read), end_(file_bytes), file_(file) {}

  GgufHeader parse() {
    expect_format();
    const auto tensors = number<uint64_t>("the number of tensors");
    const auto keys = number<uint64_t>("the number of keys");
    if (keys > kMaxKeys)
      corrupt("it claims " + std::to_string(keys) + " keys; at most " + std::to_string(kMaxKeys) +
              " are read.");
    if (tensors > kMaxTensors)
      corrupt("it claims " + std::to_string(tensors) + " tensors; at most " + std::to_string(kMaxTensors) +
              " are read.");
    for (uint64_t i = 0; i < keys; ++i) read_value();
    for (uint64_t i = 0; i < tensors; ++i) read_tensor();
    place_tensors();
    return std::move(header_);
  }

 private:
  [[noreturn]] void corrupt(const std::string& what) const {
    throw EngineError("CheckpointCorrupt", file_ + ": " + what);
  }

  // Makes sure that `count` more bytes are there.
  void need(uint64_t count, const std::string& what) const {
    if (count <= end_ - at_) return;
    corrupt("the file ends at byte " + std::to_string(end_) + " within " + what + ", which at byte " +
            std::to_string(at_) + " takes " + std::to_string(count) + " more: it is truncated or malformed.");
  }

  void take(std::span<std::byte> out, const std::string& what) {
    need(out.size(), what);
    if (at_ < window_at_ || at_ + out.size() > window_at_ + window_.size()) {
      window_.resize(std::min(end_ - at_, std::max<uint64_t>(kWindowBytes, out.size())));
      read_(at_, window_);
      window_at_ = at_;
    }
    std::memcpy(out.data(), window_.data() + (at_ - window_at_), out.size());
    at_ += out.size();
  }

  template <class T>
  T number(const std::string& what) {
    T value;
    take(std::as_writable_bytes(std::span(&value, 1)), what);
    return value;
  }

  std::string text(uint64_t length, const std::string& what) {
    std::string value(length, '\0');
    if (length > 0) take(std::as_writable_bytes(std::span(value)), what);
    return value;
  }

  void skip(uint64_t count, const std::string& what) {
    need(count, what);
    at_ += count;
  }

  std::string name(const std::string& what) {
    const auto length = number<uint64_t>(what);
    if (length == 0 || length > kMaxName) {
      corrupt(what + " has " + std::to_string(length) + " bytes; expected 1 to " + std::to_string(kMaxName) +
              ".");
    }
    return text(length, what);
  }

  void expect_format() {
    if (end_ < 24 || text(4, "the file's mark") != "GGUF")
      corrupt("it does not begin with GGUF, as GGUF files do.");
    const auto version = number<uint32_t>("the version");
    if (version == 2 || version == 3) return;
    const bool swapped = version != 0 && (version & 0xffff) == 0;
    corrupt(swapped ? "it is big-endian; convert it on a little-endian machine."
                    : "it has version " + std::to_string(version) + " of the format; 2 and 3 are read.");
  }

  void read_value() {
    const std::string key = name("the name of a key");
    const std::string what = "the value of key " + key;
    const auto type = number<uint32_t>(what);
    if (header_.values.contains(key)) corrupt("key " + key + " is there twice.");
    switch (type) {
      case kText:
        return read_text(key, what);
      case kArray:
        return skip_array(what);
      case kFloat:
        return keep(key, static_cast<double>(number<float>(what)));
      case kDouble:
        return keep(key, number<double>(what));
      case kBool:
        return keep(key, number<uint8_t>(what) != 0);
      case kU8:
        return keep(key, int64_t{number<uint8_t>(what)});
      case kI8:
        return keep(key, int64_t{number<int8_t>(what)});
      case kU16:
        return keep(key, int64_t{number<uint16_t>(what)});
      case kI16:
        return keep(key, int64_t{number<int16_t>(what)});
      case kU32:
        return keep(key, int64_t{number<uint32_t>(what)});
      case kI32:
        return keep(key, int64_t{number<int32_t>(what)});
      case kU64:
        return keep(key, static_cast<int64_t>(std::min<uint64_t>(number<uint64_t>(what), INT64_MAX)));
      case kI64:
        return keep(key, number<int64_t>(what));
      default:
        corrupt(what + " has type " + std::to_string(type) + ", which the format does not have.");
    }
  }

  void keep(const std::string& key, GgufValue value) { header_.values.emplace(key, std::move(value)); }

  void read_text(const std::string& key, const std::string& what) {
    const auto length = number<uint64_t>(what);
    if (length > kMaxText) return skip(length, what);
    keep(key, text(length, what));
  }

  void skip_array(const std::string& what) {
    const auto type = number<uint32_t>(what);
    const auto count = number<uint64_t>(what);
    if (type == kText) {
      need(count > end_ / 8 ? end_ : count * 8, what);  // each has its length
      for (uint64_t i = 0; i < count; ++i) skip(number<uint64_t>(what), what);
      return;
    }
    const uint64_t unit = value_bytes(type);
    if (unit == 0)
      corrupt(what + " is an array of type " + std::to_string(type) +
              "; arrays of numbers, flags and texts are read.");
    if (count > (end_ - at_) / unit) need(end_, what);
    skip(count * unit, what);
  }

  void read_tensor() {
    const std::string tensor = name("the name of a tensor");
    const std::string what = "the entry of tensor " + tensor;
    const auto dims = number<uint32_t>(what);
    if (dims == 0 || dims > kMaxDims)
      corrupt("tensor " + tensor + " has " + std::to_string(dims) + " dimensions; expected 1 to 4.");
    TensorEntry entry{.dtype = {}, .shape = std::vector<int64_t>(dims), .offset = 0, .bytes = 0};
    uint64_t elements = 1;
    for (uint32_t i = dims; i-- > 0;) {  // innermost first in the file
      const auto side = number<uint64_t>(what);
      if (side == 0 || __builtin_mul_overflow(elements, side, &elements) || elements > INT64_MAX / 8) {
        corrupt("tensor " + tensor + " has a side of " + std::to_string(side) +
                ", which is 0 or makes it larger than any memory.");
      }
      entry.shape[i] = static_cast<int64_t>(side);
    }
    const auto number_of_type = number<uint32_t>(what);
    entry.offset = number<uint64_t>(what);
    if (const auto type = type_numbered(number_of_type)) {
      entry.dtype = name_of(*type);
      entry.bytes = stored_bytes(*type, entry.shape.back(), elements, tensor);
    } else {
      entry.dtype = foreign_type(number_of_type);
    }
    entry.stored_name = tensor;
    if (!header_.tensors.emplace(tensor, std::move(entry)).second)
      corrupt("tensor " + tensor + " is there twice.");
  }

  uint64_t stored_bytes(DType type, int64_t columns, uint64_t elements, const std::string& tensor) const {
    const int64_t unit = block_layout(type).columns;
    if (columns % unit != 0) {
      corrupt("tensor " + tensor + " has rows of " + std::to_string(columns) + " columns, which blocks of " +
              std::to_string(unit) + " (" + name_of(type) + ") do not divide.");
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
      corrupt("key general.alignment is " + std::to_string(alignment) +
              "; expected a power of two from 8 to 1048576.");
    }
    const auto step = static_cast<uint64_t>(alignment);
    const uint64_t data = (at_ + step - 1) / step * step;
    for (auto& [tensor, entry] : header_.tensors) {
      if (entry.offset % step != 0)
        corrupt("tensor " + tensor + " lies at offset " + std::to_string(entry.offset) +
                ", which is not a multiple of the alignment of " + std::to_string(step) + ".");
      if (data > end_ || entry.offset > end_ - data || entry.bytes > end_ - data - entry.offset) {
        corrupt("the file ends at byte " + std::to_string(end_) + " but tensor " + tensor + " takes " +
                std::to_string(entry.bytes) + " bytes at " + std::to_string(data) + " + " +
                std::to_string(entry.offset) + ": the file is truncated.");
      }
      entry.offset += data;
    }
  }

  const TensorReader& read_;
  uint64_t end_;
  const std::string& file_;
  uint64_t at_ = 0;
  std::vector<std::byte> window_;
  uint64_t window_at_ = 0;
  GgufHeader header_;
};

}  // namespace

GgufHeader parse_gguf_header(const TensorReader& read, uint64_t file_bytes, const std::string& file) {
  return HeaderParser(read, file_bytes, file).parse();
}

}  // namespace llmservice
