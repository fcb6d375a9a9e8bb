// llama's rows of q and k are reordered for rotation by neighbours, the decay is stored as -exp(A_log);
// scales of FP8 are exponents, its codes may be AMD's. Source: llama.cpp, conversion/llama.py and
// conversion/qwen.py.
#include "model/restored_tensor.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "model/derived_tensor.h"
#include "ops/dtype.h"
#include "ops/error.h"

namespace llmservice {
namespace {

// Rotation pairs feature j of a head with j + half here; stored they are neighbours.
class HalvedRows final : public DerivedTensor {
 public:
  HalvedRows(const TensorFile& from, uint64_t begin, const Arrivals* arrivals, uint64_t row_bytes,
             uint64_t head_dim)
      : DerivedTensor(from, begin, arrivals), row_bytes_(row_bytes), head_dim_(head_dim) {}

  void derive(uint64_t offset, std::span<std::byte> out) const override {
    while (!out.empty()) {
      const uint64_t within = offset % row_bytes_;
      const size_t count = std::min<size_t>(out.size(), row_bytes_ - within);
      read_stored(stored_row(offset / row_bytes_) * row_bytes_ + within, out.first(count));
      out = out.subspan(count);
      offset += count;
    }
  }

 private:
  uint64_t stored_row(uint64_t row) const {
    const uint64_t half = head_dim_ / 2;
    const uint64_t feature = row % head_dim_;
    return row - feature + feature % half * 2 + feature / half;
  }

  uint64_t row_bytes_;
  uint64_t head_dim_;
};

// A_log of the stored -exp(A_log), in F32.
class LogOfDecay final : public DerivedTensor {
 public:
  LogOfDecay(const TensorFile& from, uint64_t begin, const Arrivals* arrivals, std::string tensor)
      : DerivedTensor(from, begin, arrivals), tensor_(std::move(tensor)) {}

  void derive(uint64_t offset, std::span<std::byte> out) const override {
    read_stored(offset, out);
    for (size_t at = 0; at + sizeof(float) <= out.size(); at += sizeof(float)) {
      float value;
      std::memcpy(&value, out.data() + at, sizeof value);
      if (!(value < 0) || !std::isfinite(value)) {
        throw EngineError(FailureReason::kCheckpointCorrupt, name() + ": tensor " + tensor_ + " holds " +
                                                                 std::to_string(value) +
                                                                 "; expected negative numbers, -exp(A_log).");
      }
      value = std::log(-value);
      std::memcpy(out.data() + at, &value, sizeof value);
    }
  }

 private:
  std::string tensor_;
};

// Floats of exponents biased by 127, a byte each (OCP E8M0).
class PowersOfTwo final : public DerivedTensor {
 public:
  PowersOfTwo(const TensorFile& from, uint64_t begin, const Arrivals* arrivals, std::string tensor)
      : DerivedTensor(from, begin, arrivals), tensor_(std::move(tensor)) {}

 private:
  // Whole floats.
  void derive(uint64_t offset, std::span<std::byte> out) const override {
    std::vector<std::byte> exponents(out.size() / sizeof(float));
    read_stored(offset / sizeof(float), exponents);
    for (size_t i = 0; i < exponents.size(); ++i) {
      const auto exponent = static_cast<uint32_t>(exponents[i]);
      if (exponent == 0xff) {
        throw EngineError(FailureReason::kCheckpointCorrupt,
                          name() + ": tensor " + tensor_ + " holds scales that are not numbers.");
      }
      // 2^-127 is half of what an exponent of 1 stands for.
      const uint32_t bits = exponent == 0 ? 1u << 22 : exponent << 23;
      std::memcpy(out.data() + i * sizeof bits, &bits, sizeof bits);
    }
  }

  std::string tensor_;
};

// The code nearest to the value of a code of e4m3fnuz: bias 8, largest 240, one zero, NaN 0x80. All are
// numbers of e4m3fn too, but odd multiples of 2^-10 below 2^-6, which go to the even one beside them.
uint8_t from_fnuz(uint8_t code) {
  if (code == 0x80) return 0x7f;
  const int exponent = code >> 3 & 15;
  const int mantissa = code & 7;
  const float magnitude = exponent == 0 ? std::ldexp(static_cast<float>(mantissa), -10)
                                        : std::ldexp(static_cast<float>(8 + mantissa), exponent - 11);
  return float_to_e4m3((code & 0x80) != 0 ? -magnitude : magnitude);
}

// Codes of e4m3fn, under the same scales.
class FromFnuz final : public DerivedTensor {
 public:
  FromFnuz(const TensorFile& from, uint64_t begin, const Arrivals* arrivals)
      : DerivedTensor(from, begin, arrivals) {
    for (size_t i = 0; i < codes_.size(); ++i)
      codes_[i] = static_cast<std::byte>(from_fnuz(static_cast<uint8_t>(i)));
  }

 private:
  void derive(uint64_t offset, std::span<std::byte> out) const override {
    read_stored(offset, out);
    for (std::byte& code : out) code = codes_[static_cast<size_t>(code)];
  }

  std::array<std::byte, 256> codes_;
};

}  // namespace

std::unique_ptr<TensorFile> restored_tensor(const TensorFile& file, const TensorPlace& place,
                                            int32_t head_dim, const Arrivals* arrivals) {
  if (place.restoration == Restoration::kLogOfDecay) {
    if (place.dtype != "F32")
      throw EngineError(FailureReason::kUnsupportedQuantization, file.name() + ": tensor " +
                                                                     place.stored_name + " has type " +
                                                                     place.dtype + "; it is read as F32.");
    return std::make_unique<LogOfDecay>(file, place.offset, arrivals, place.stored_name);
  }
  if (place.restoration == Restoration::kPowersOfTwo)
    return std::make_unique<PowersOfTwo>(file, place.offset, arrivals, place.stored_name);
  if (place.restoration == Restoration::kFnuz)
    return std::make_unique<FromFnuz>(file, place.offset, arrivals);
  const int64_t rows = place.shape.empty() ? 1 : place.shape.front();
  if (head_dim % 2 != 0 || rows % head_dim != 0) {
    throw EngineError(FailureReason::kCheckpointCorrupt,
                      file.name() + ": tensor " + place.stored_name + " has " + std::to_string(rows) +
                          " rows, which are no heads of " + std::to_string(head_dim) + ".");
  }
  return std::make_unique<HalvedRows>(file, place.offset, arrivals, place.bytes / static_cast<uint64_t>(rows),
                                      static_cast<uint64_t>(head_dim));
}

}  // namespace llmservice
