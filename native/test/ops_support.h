// Builders for the ops tests: seeded values, stored matrices, and the backends that must agree bit for bit.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "ops/dtype.h"
#include "ops/ops.h"
#include "ops/reference.h"

namespace llmservice::testing {

inline std::vector<float> random_floats(size_t count, uint32_t seed, float spread = 1.0f) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> values(-spread, spread);
  std::vector<float> out(count);
  for (float& x : out) x = values(engine);
  return out;
}

// A stored (rows, cols) tensor, kept alive while parts of it are read.
struct StoredMatrix {
  DType dtype;
  int64_t rows;
  int64_t cols;
  std::vector<std::byte> data;
  std::vector<float> scales;  // (ceil(rows/128), ceil(cols/128)), or (rows)
  Scaling scaling = Scaling::kBlock;
  std::vector<std::byte> group_scales;  // kF4E2M1: (rows, cols / 16)

  // Rows [first, first + count) as a part.
  MatrixPart part(int64_t first, int64_t count) const {
    const int64_t row_bytes = bytes_of(dtype, cols);
    return {dtype,
            count,
            cols,
            [this, first, row_bytes](uint64_t offset, std::span<std::byte> out) {
              std::memcpy(out.data(), data.data() + first * row_bytes + offset, out.size());
            },
            scales,
            first,
            scaling,
            group_scales};
  }
  // All but the scale of its row or block.
  float value(int64_t row, int64_t col) const {
    const float code = widen(dtype, data.data(), row * cols + col);
    if (group_scales.empty()) return code;
    return code * widen(DType::kF8E4M3, group_scales.data(), row * cols / 16 + col / 16);
  }
  float scale(int64_t row, int64_t col) const {
    if (scales.empty()) return 1.0f;
    return scaling == Scaling::kRow ? scales[row] : scales[row / 128 * ((cols + 127) / 128) + col / 128];
  }
};

inline std::byte random_e4m3(std::mt19937& engine) {
  const auto code = static_cast<uint8_t>(engine());
  return static_cast<std::byte>((code & 0x7f) == 0x7f ? 0 : code);
}

// Where the f16 numbers of a block lie.
inline std::vector<int64_t> halves_of(DType dtype) {
  switch (dtype) {
    case DType::kQ4_K:
    case DType::kQ5_K:
    case DType::kQ4_1:
    case DType::kQ5_1:
      return {0, 2};
    case DType::kMXFP4:
    case DType::kInt4:
    case DType::kInt8:
      return {};
    case DType::kQ2_K:
      return {80, 82};
    case DType::kQ3_K:
      return {108};
    case DType::kQ6_K:
      return {208};
    default:
      return {0};
  }
}

// Blocks of random codes and scales; d and dmin lie around a sixteenth, of either sign.
inline StoredMatrix random_blocks(DType dtype, int64_t rows, int64_t cols, uint32_t seed) {
  StoredMatrix m{dtype, rows, cols, std::vector<std::byte>(bytes_of(dtype, rows * cols)), {}, {}, {}};
  std::mt19937 engine(seed);
  for (std::byte& byte : m.data) byte = static_cast<std::byte>(engine());
  const auto put_half = [&](size_t at) {
    const auto bits = static_cast<uint16_t>((engine() & 0x83ff) | 0x2c00);
    std::memcpy(&m.data[at], &bits, sizeof bits);
  };
  const int64_t step = block_layout(dtype).bytes;
  for (size_t at = 0; at < m.data.size(); at += step) {
    // Within eight powers of two around one, and 2^-127.
    if (dtype == DType::kMXFP4)
      m.data[at] = static_cast<std::byte>(engine() % 8 == 0 ? 0 : 123 + engine() % 8);
    if (is_integer_block(dtype)) {
      // Half-precision scales around one, and any zero point.
      const uint32_t word =
          std::bit_cast<uint32_t>(f16_to_float(static_cast<uint16_t>((engine() & 0x83ff) | 0x2c00)));
      const uint32_t both = word | (engine() & kZeroPointMask);
      std::memcpy(&m.data[at], &both, sizeof both);
    }
    for (const int64_t half : halves_of(dtype)) put_half(at + half);
  }
  return m;
}

// Random finite values of every magnitude that the dtype has: FP8 covers all 254 codes, F16 and FP8 their
// subnormals. Quantized matrices have random scales of the kind asked for.
inline StoredMatrix random_matrix(DType dtype, int64_t rows, int64_t cols, uint32_t seed,
                                  Scaling scaling = Scaling::kBlock) {
  if (is_block_type(dtype)) return random_blocks(dtype, rows, cols, seed);
  StoredMatrix m{dtype, rows, cols, std::vector<std::byte>(bytes_of(dtype, rows * cols)), {}, scaling, {}};
  const std::vector<float> values = random_floats(rows * cols, seed);
  std::mt19937 engine(seed);
  for (size_t i = 0; i < m.data.size(); ++i) {
    if (dtype == DType::kF8E4M3) m.data[i] = random_e4m3(engine);
    if (dtype == DType::kI8 || dtype == DType::kF4E2M1) m.data[i] = static_cast<std::byte>(engine());
  }
  for (int64_t i = 0; i < rows * cols && !is_quantized(dtype); ++i) {
    const auto half =
        static_cast<uint16_t>((engine() & 0x8000) | (engine() % 8 == 0 ? 0 : 0x3400) | (engine() & 0x3ff));
    const uint16_t bits = dtype == DType::kBF16 ? float_to_bf16(values[i]) : half;
    if (dtype == DType::kF32) std::memcpy(&m.data[i * 4], &values[i], 4);
    if (dtype != DType::kF32) std::memcpy(&m.data[i * 2], &bits, 2);
  }
  if (!is_quantized(dtype)) return m;
  const int64_t blocks = (rows + 127) / 128 * ((cols + 127) / 128);
  m.scales = random_floats(scaling == Scaling::kRow ? rows : blocks, seed + 1, 0.01f);
  if (dtype == DType::kF4E2M1) m.group_scales.resize(rows * cols / 16);
  for (std::byte& scale : m.group_scales) scale = random_e4m3(engine);
  return m;
}

inline std::unique_ptr<Matrix> pack(Backend& backend, const StoredMatrix& m, DType keep = DType::kBF16) {
  const MatrixPart part = m.part(0, m.rows);
  return backend.pack({&part, 1}, keep, [](uint64_t) {});
}

inline ExpertMatrix pack_expert(Backend& backend, const StoredMatrix& m, DType keep = DType::kBF16) {
  const MatrixPart part = m.part(0, m.rows);
  return backend.pack_expert({&part, 1}, keep, [](uint64_t) {});
}

// The best instruction family of this machine with one, two and three threads, and every other with two.
inline std::vector<std::unique_ptr<Backend>> all_backends() {
  std::vector<std::unique_ptr<Backend>> backends;
  const std::vector<std::string> isas = cpu_isas();
  for (const std::string& isa : isas) {
    for (const int threads : {1, 2, 3}) {
      if (threads != 2 && isa != isas.back()) continue;
      backends.push_back(make_cpu_backend({.threads = threads, .isa = isa.c_str()}));
    }
  }
  return backends;
}

// Whether the backend's family has products of pairs of BF16, and whether tiles add some of them.
inline bool has_tiles(const Backend& backend) { return std::string(backend.isa()).starts_with("amx"); }
inline bool has_pairs(const Backend& backend) {
  return std::string(backend.isa()) == "avx512bf16" || has_tiles(backend);
}

inline std::string label(const Backend& backend) {
  return std::string(backend.isa()) + ", " + std::to_string(backend.threads()) + " threads";
}

// k, v (rows, kv_heads · head_dim) of one segment to the cache, as they are.
inline void write_kv(Backend& backend, const AttentionShape& shape, const Segment& segment, const float* k,
                     const float* v, const KvCache& cache) {
  const int64_t width = int64_t{shape.kv_heads} * shape.head_dim;
  const int64_t q_width = int64_t{shape.heads} * shape.head_dim;
  const int64_t stride = q_width + 2 * width;
  std::vector<float> rows((segment.first + segment.count) * stride, 0.0f);
  for (int64_t t = segment.first; t < segment.first + segment.count; ++t) {
    std::copy_n(k + t * width, width, &rows[t * stride + q_width]);
    std::copy_n(v + t * width, width, &rows[t * stride + q_width + width]);
  }
  float* const keys = rows.data() + q_width;
  backend.norm_rope_write(shape, {&segment, 1}, {}, rows.data(), keys, keys + width, stride, cache);
}

// Bitwise, so that -0 and 0 differ and a NaN equals itself.
inline void expect_same_bits(std::span<const float> actual, std::span<const float> expected,
                             const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  for (size_t i = 0; i < actual.size(); ++i) {
    if (std::memcmp(&actual[i], &expected[i], sizeof(float)) != 0) {
      FAIL() << what << ": element " << i << " is " << actual[i] << ", expected " << expected[i];
    }
  }
}

inline void expect_close(std::span<const float> actual, std::span<const float> expected, float tolerance,
                         const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  for (size_t i = 0; i < actual.size(); ++i) {
    if (!(std::fabs(actual[i] - expected[i]) <= tolerance * (1.0f + std::fabs(expected[i])))) {
      FAIL() << what << ": element " << i << " is " << actual[i] << ", expected " << expected[i];
    }
  }
}

}  // namespace llmservice::testing
