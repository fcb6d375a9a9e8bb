// Every kernel of a decode step and of a prompt beside what the machine gives at most: `llmservice_bench
// roofline`. All threads, the best instruction family, shapes of Qwen3-0.6B and, of the hybrid's layers,
// Qwen3.5-0.8B.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "bandwidth.h"
#include "ops/ops.h"

namespace llmservice::bench {

enum class Peak : uint8_t { kFloat32, kBf16Pairs };

// One call of a kernel.
struct Work {
  std::string name;
  int64_t rows;
  double bytes;  // that have to come from memory, or go there
  double flops;  // of which a multiply-add is two
  Peak peak;
};

class Roofline {
 public:
  explicit Roofline(int rounds);

  Backend& backend() { return *backend_; }
  // Prints a line: the median of `rounds` samples of `call`, whose argument counts up, so that it may take
  // another copy of its data each time; and of `cached`, which always takes the same.
  void measure(const Work& work, const std::function<void(int64_t)>& call,
               const std::function<void(int64_t)>& cached = nullptr);

 private:
  double seconds_of_each(const std::function<void(int64_t)>& call) const;
  double peak_of(float (*run)(int64_t), int64_t adds);
  // Flops a second; 0 where none was measured.
  double peak(Peak kind) const { return kind == Peak::kBf16Pairs ? bf16_ : float32_; }

  int rounds_;
  std::unique_ptr<Backend> backend_;
  BandwidthProbe probe_;
  double float32_ = 0;
  double bf16_ = 0;
};

// roofline_products.cpp
void measure_products(Roofline&);
// roofline_ops.cpp
void measure_attention(Roofline&);
void measure_gdn(Roofline&);
void measure_row_ops(Roofline&);

// Parts that are named; all when none is. Throws std::invalid_argument for one that there is not.
void report_roofline(int rounds, const std::vector<std::string>& parts);

}  // namespace llmservice::bench
