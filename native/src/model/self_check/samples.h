// What sampled outputs of packed matrices must be: worked out from the checkpoint's bytes while it is read,
// kept until the backend can multiply. A few rows of each matrix of one layer of each kind, and two experts.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "model/config.h"
#include "model/self_check/probe.h"
#include "model/weights.h"

namespace llmservice {

// A product with a probe row, and how far from it rounding may lead.
struct Expected {
  double value = 0;
  double bar = 0;
};

struct SampledOutput {
  int64_t output;                          // row of the packed matrix
  std::string tensor;                      // where it is stored, for messages
  int64_t row;                             // of the tensor
  std::array<Expected, kProbeRows> own;    // by this rank's columns
  std::array<Expected, kProbeRows> whole;  // by those of all ranks
};

struct SampledMatrix {
  const Matrix* matrix;  // stays where it is, in the layer
  int64_t first_column;  // of this rank
  bool divided;          // ranks hold columns: their outputs are to be added up
  std::vector<SampledOutput> outputs;
};

// An expert's outputs for the probe row of its place in the list: no other columns than this rank's.
struct SampledExpert {
  int32_t expert;
  std::vector<SampledOutput> outputs;
};

class Samples {
 public:
  // `coded`: activations beside FP8 weights become codes, which e4m3fnuz, whose largest is 240, rounds.
  Samples(DType keep, LoadQuantization quantization, bool coded)
      : keep_(keep), quantization_(quantization), coded_(coded) {}

  // `matrix` was packed from the bands.
  void take(const Checkpoint& checkpoint, const Matrix& matrix, const std::vector<Band>& bands);
  // `biases` of gate and of up, rows of experts; none: there are none. That of down, `down_bias`, is added by
  // one rank.
  struct ExpertSource {
    int32_t expert;
    std::vector<Band> gate_up;
    Band down;
    std::vector<ColumnBand> biases;
    std::string down_bias;
    std::optional<ClampedSwiglu> clamped;
    bool gelu = false;
  };
  void take(const Checkpoint& checkpoint, const ExpertSource& source);

  // That take() took in all.
  double milliseconds() const { return milliseconds_; }
  const std::vector<SampledMatrix>& matrices() const { return matrices_; }
  // Of the first layer that has some.
  const std::vector<SampledExpert>& experts() const { return experts_; }

 private:
  struct Row {
    std::vector<float> values;
    double rounding = 0;  // of each value, where the loader quantizes it by the largest of its row
    double relative = 0;  // of each value, where the loader quantizes it
  };
  Row read(const Checkpoint& checkpoint, const Band& band, int64_t row) const;
  Expected product(const Row& row, Range columns, int64_t probe_row);

  double milliseconds_ = 0;
  DType keep_;
  LoadQuantization quantization_;
  bool coded_;
  std::array<std::vector<float>, kProbeRows> probes_;  // up to the column that was wanted last
  std::vector<SampledMatrix> matrices_;
  std::vector<SampledExpert> experts_;
};

// Rows of a matrix of such bands that are worth a look: borders of each stored matrix, and some between.
// Ascending.
std::vector<int64_t> sampled_outputs(const std::vector<Band>& bands);

}  // namespace llmservice
