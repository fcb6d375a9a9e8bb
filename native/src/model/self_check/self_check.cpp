#include "model/self_check/self_check.h"

#include <bit>
#include <cmath>

#include "model/moe.h"
#include "model/self_check/op_checks.h"
#include "model/self_check/probe_array.h"
#include "ops/reference.h"

namespace llmservice {
namespace {

// Sums of squares of such numbers are still floats.
constexpr double kLargest = 1e15;

// Probe rows as the matrix's rank gets them: (kProbeRows, cols).
std::vector<float> probe_rows(int64_t first_column, int64_t cols) {
  std::vector<float> rows(kProbeRows * cols);
  for (int64_t t = 0; t < kProbeRows; ++t) {
    for (int64_t k = 0; k < cols; ++k) rows[t * cols + k] = probe_value(t, first_column + k);
  }
  return rows;
}

std::string short_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

}  // namespace

void SelfCheck::run(const Samples& samples) {
  const std::string differs = differing_op(backend, config, sizes);
  if (!differs.empty()) fail(differs);
  for (const SampledMatrix& sampled : samples.matrices()) {
    if (sampled.matrix == embedding) check_embedding(sampled);
    if (sampled.matrix != embedding || tied_head) check_matrix(sampled);
  }
  if (experts != nullptr && !samples.experts().empty()) check_experts(samples.experts());
  if (shard.size > 1) check_collectives();
}

void SelfCheck::check_matrix(const SampledMatrix& sampled) {
  const int64_t outputs = sampled.matrix->rows;
  ProbeArray x(backend, probe_rows(sampled.first_column, sampled.matrix->cols));
  ProbeArray out(backend, kProbeRows * outputs);
  backend.matmul(*sampled.matrix, x.data(), kProbeRows, out.data());
  const std::vector<float> own = out.read();
  for (const SampledOutput& output : sampled.outputs) {
    for (int64_t t = 0; t < kProbeRows; ++t) {
      compare(output, t, output.own[t], own[t * outputs + output.output], "a product of this rank's part");
    }
  }
  if (!sampled.divided) return;
  ranks.all_reduce(out.data(), kProbeRows * outputs);
  const std::vector<float> sum = out.read();
  for (const SampledOutput& output : sampled.outputs) {
    for (int64_t t = 0; t < kProbeRows; ++t) {
      compare(output, t, output.whole[t], sum[t * outputs + output.output], "the sum of all ranks' products");
    }
  }
}

void SelfCheck::check_embedding(const SampledMatrix& sampled) {
  const int64_t cols = sampled.matrix->cols;
  std::vector<int32_t> ids;
  for (const SampledOutput& output : sampled.outputs) ids.push_back(static_cast<int32_t>(output.output));
  ProbeArray out(backend, static_cast<int64_t>(ids.size()) * cols);
  backend.gather(*sampled.matrix, ids, out.data());
  const std::vector<float> rows = out.read();
  for (size_t i = 0; i < ids.size(); ++i) {
    for (int64_t t = 0; t < kProbeRows; ++t) {
      double sum = 0;
      for (int64_t k = 0; k < cols; ++k) sum += static_cast<double>(probe_value(t, k)) * rows[i * cols + k];
      compare(sampled.outputs[i], t, sampled.outputs[i].own[t], sum, "a look-up");
    }
  }
}

// One row for each sampled expert, which it goes to alone.
void SelfCheck::check_experts(const std::vector<SampledExpert>& sampled) {
  const auto rows = static_cast<int64_t>(sampled.size());
  const int64_t hidden = config.hidden;
  const int64_t width = config.moe->intermediate;
  ProbeArray x(backend, probe_rows(0, hidden));
  std::vector<float> ids(rows);
  for (int64_t t = 0; t < rows; ++t) ids[t] = std::bit_cast<float>(sampled[t].expert);
  ProbeArray experts_of_rows(backend, ids);
  ProbeArray weights(backend, std::vector<float>(rows, 1));
  ProbeArray room_hidden(backend, rows * hidden);
  ProbeArray room_wide(backend, rows * 2 * width);
  ProbeArray room_mixed(backend, rows * width);
  ProbeArray out(backend, rows * hidden);
  RoutingShape shape = routing_shape(*config.moe);
  shape.top_k = 1;
  const ExpertWorkspace room{
      .rows = rows, .hidden = room_hidden.data(), .wide = room_wide.data(), .mixed = room_mixed.data()};
  backend.run_experts(*experts, shape, {reinterpret_cast<int32_t*>(experts_of_rows.data()), weights.data()},
                      x.data(), rows, room, out.data());
  const std::vector<float> found = out.read();
  for (int64_t t = 0; t < rows; ++t) {
    for (const SampledOutput& output : sampled[t].outputs) {
      const std::string what = "expert " + std::to_string(sampled[t].expert);
      compare(output, t, output.own[t], found[t * hidden + output.output], what.c_str());
    }
  }
}

// Sums of few bits are exact, whoever adds up and in whatever order.
void SelfCheck::check_collectives() {
  const int64_t hidden = config.hidden;
  const auto share = [&](int32_t rank) {
    std::vector<float> values(kProbeRows * hidden);
    for (size_t i = 0; i < values.size(); ++i) values[i] = probe_value(rank, static_cast<int64_t>(i));
    return values;
  };
  std::vector<float> sums(kProbeRows * hidden);
  for (int32_t rank = 0; rank < shard.size; ++rank) {
    const std::vector<float> values = share(rank);
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += values[i];
  }
  ProbeArray residual(backend, std::vector<float>(sums.size()));
  ProbeArray update(backend, share(shard.rank));
  ProbeArray weight(backend, std::vector<float>(hidden, 1));
  ProbeArray normed(backend, static_cast<int64_t>(sums.size()));
  ranks.all_reduce_add_rms_norm(backend, residual.data(), update.data(), weight.data(), config.norm_eps,
                                kProbeRows, hidden, normed.data(), {});
  const std::vector<float> found = residual.read();
  for (size_t i = 0; i < sums.size(); ++i) {
    if (found[i] == sums[i]) continue;
    fail("the sum over " + std::to_string(shard.size) + " ranks, value " + std::to_string(i) + ": found " +
         short_text(found[i]) + ", expected " + short_text(sums[i]));
  }

  std::vector<float> mine(vocab.count);
  for (int64_t i = 0; i < vocab.count; ++i) mine[i] = static_cast<float>(vocab.begin + i);
  ProbeArray slice(backend, mine);
  ProbeArray logits(backend, shard.rank == 0 ? int64_t{config.vocab} : int64_t{0});
  ranks.gather_logits(slice.data(), 1, config.vocab, logits.data());
  // On the others too nothing may be left to run.
  const std::vector<float> gathered = shard.rank == 0 ? logits.read() : slice.read();
  if (shard.rank != 0) return;
  for (size_t i = 0; i < gathered.size(); ++i) {
    if (gathered[i] == static_cast<float>(i)) continue;
    fail("the gathered logits, token " + std::to_string(i) + ": found that of token " +
         short_text(gathered[i]));
  }
}

void SelfCheck::compare(const SampledOutput& output, int64_t row, const Expected& expected, double found,
                        const char* what) const {
  // What the checkpoint itself stores as no number, or none to compute with, is for the check of logits,
  // request by request.
  if (!(std::fabs(expected.value) < kLargest) || !(expected.bar < kLargest)) return;
  if (std::fabs(found - expected.value) <= expected.bar + 1e-6) return;
  fail(output.tensor + ", row " + std::to_string(output.row) + " (" + what + ", probe " +
       std::to_string(row) + "): found " + short_text(found) + ", expected " + short_text(expected.value) +
       " ± " + short_text(expected.bar));
}

void SelfCheck::fail(const std::string& what) const {
  const int32_t rank = stage.index * shard.size + shard.rank;
  throw EngineError(
      FailureReason::kEngineNumericalFault,
      "The self-check at start failed on rank " + std::to_string(rank) + " of " +
          std::to_string(stage.count * shard.size) + " (" + backend.isa() + "): " + what +
          ". This device, its driver or its partition mode computes wrongly, or the weights were read "
          "wrongly: answers would be garbage. Try another node or device, or fewer ranks.",
      {{"rank", rank}});
}

}  // namespace llmservice
