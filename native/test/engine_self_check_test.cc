// The self-check at start: silent on sound engines, and the fault that it names where one thing is wrong.
#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "engine/engine.h"
#include "failures.h"
#include "model/matrix_part.h"
#include "model/self_check/samples.h"
#include "moe_support.h"
#include "ops/reference.h"
#include "parallel_support.h"

namespace llmservice {
namespace {

using namespace llmservice::testing;

// Sound but for what a test breaks.
class BrokenBackend final : public ReferenceBackend {
 public:
  // Parts of matrices on their way in; results of products on their way out.
  std::function<void(std::vector<MatrixPart>&)> packing = [](auto&) {};
  std::function<void(const Matrix&, int64_t rows, float* out)> product = [](auto&, auto, auto) {};
  float attention_factor = 1;
  float chunk_factor = 1;  // of attention of a chunk
  float delta_factor = 1;
  float gate_factor = 1;
  float norm_factor = 1;
  float row_factor = 1;
  int32_t choice_offset = 0;

  std::unique_ptr<Matrix> pack(std::span<const MatrixPart> parts, DType keep,
                               const std::function<void(uint64_t)>& on_bytes) override {
    std::vector<MatrixPart> changed(parts.begin(), parts.end());
    packing(changed);
    return ReferenceBackend::pack(changed, keep, on_bytes);
  }
  void matmul(const Matrix& w, const float* x, int64_t rows, float* out) override {
    ReferenceBackend::matmul(w, x, rows, out);
    product(w, rows, out);
  }
  void attention(const AttentionShape& shape, std::span<const Segment> segments, const float* q,
                 int64_t stride, const KvCache& cache, float* out, const ScoreRules& rules) override {
    ReferenceBackend::attention(shape, segments, q, stride, cache, out, rules);
    out[segments.front().count * shape.heads * shape.head_dim - 1] *= attention_factor;
    if (segments.front().position < segments.front().chunked_until) out[0] *= chunk_factor;
  }
  void gdn(const GdnShape& shape, std::span<const Segment> segments, const float* qkv, int64_t stride,
           const float* beta, const float* gate, int64_t gate_stride, const float* a_log,
           const float* dt_bias, const GdnState& state, float* out, const GdnNorm& norm) override {
    ReferenceBackend::gdn(shape, segments, qkv, stride, beta, gate, gate_stride, a_log, dt_bias, state, out,
                          norm);
    state.s[0] *= delta_factor;
  }
  void add_rms_norm(float* x, const float* y, const float* weight, float eps, int64_t rows, int64_t dim,
                    float* out, const FaultMarks& marks) override {
    ReferenceBackend::add_rms_norm(x, y, weight, eps, rows, dim, out, marks);
    out[dim - 1] *= norm_factor;
  }
  void gather(const Matrix& table, std::span<const int32_t> ids, float* out) override {
    ReferenceBackend::gather(table, ids, out);
    for (int64_t i = 0; i < table.cols; ++i) out[i] *= row_factor;
  }
  void route(const RoutingShape& shape, const float* logits, int64_t rows, const Routing& routing) override {
    ReferenceBackend::route(shape, logits, rows, routing);
    routing.ids[0] += choice_offset;
  }
  void silu_mul(const float* gate_up, int64_t rows, int64_t width, float* out) override {
    ReferenceBackend::silu_mul(gate_up, rows, width, out);
    out[0] *= gate_factor;
  }
};

class SelfCheckAtStart : public ::testing::Test {
 protected:
  std::unique_ptr<Engine> load(std::unique_ptr<Backend> backend,
                               std::optional<RankPlace> place = std::nullopt, bool self_check = true) {
    const EngineOptions options{.checkpoint = dir_.checkpoint(quantization_),
                                .block_size = 16,
                                .num_blocks = 16,
                                .max_num_seqs = 2,
                                .max_model_len = 128,
                                .max_num_batched_tokens = 128,
                                .dtype = dtype_,
                                .place = place,
                                .self_check = self_check};
    return std::make_unique<Engine>(options, std::move(backend), [](auto, auto) {});
  }

  void llama() { write_checkpoint(dir_, tiny_llama_config(), tiny_llama_tensors()); }
  void experts() { write_checkpoint(dir_, moe_config(), moe_tensors()); }
  void hybrid() { write_checkpoint(dir_, tiny_hybrid_config(), tiny_hybrid_tensors()); }

  // What the load says, which fails by a numerical fault.
  std::string fault_of(std::unique_ptr<BrokenBackend> backend) {
    std::string message;
    EXPECT_EQ(failure_of([&] { load(std::move(backend)); }, &message), "EngineNumericalFault");
    return message;
  }

  TempDir dir_;
  DType dtype_ = DType::kBF16;
  LoadQuantization quantization_ = LoadQuantization::kNone;
};

TEST_F(SelfCheckAtStart, PassesOnEveryInstructionFamily) {
  for (const auto& write :
       std::vector<std::function<void()>>{[&] { llama(); }, [&] { hybrid(); }, [&] { experts(); }}) {
    write();
    for (const std::string& isa : cpu_isas()) {
      for (const LoadQuantization quantization :
           {LoadQuantization::kNone, LoadQuantization::kFp8, LoadQuantization::kInt8}) {
        quantization_ = quantization;
        const auto engine = load(make_cpu_backend({.threads = 1, .isa = isa.c_str()}));
        EXPECT_TRUE(engine->info().self_check_ms.has_value());
      }
    }
  }
}

TEST_F(SelfCheckAtStart, IsLeftOutWhereItIsOff) {
  llama();
  auto backend = std::make_unique<BrokenBackend>();
  backend->gate_factor = 3;
  EXPECT_FALSE(load(std::move(backend), std::nullopt, false)->info().self_check_ms.has_value());
}

TEST_F(SelfCheckAtStart, FindsAMatrixThatIsPackedWithOtherRows) {
  llama();
  auto backend = std::make_unique<BrokenBackend>();
  backend->packing = [](std::vector<MatrixPart>& parts) {
    if (parts.size() != 3) return;  // q, k and v
    parts[1].read = [read = parts[2].read](uint64_t at, std::span<std::byte> out) { read(at, out); };
  };
  const std::string message = fault_of(std::move(backend));
  EXPECT_TRUE(contains(message, "rank 0 of 1 (reference)"));
  EXPECT_TRUE(contains(message, "model.layers.0.self_attn.k_proj.weight, row 0"));
}

TEST_F(SelfCheckAtStart, FindsAScaleThatIsAppliedWrongly) {
  llama();
  quantization_ = LoadQuantization::kInt8;
  auto backend = std::make_unique<BrokenBackend>();
  auto scales = std::make_shared<std::vector<float>>();
  int matrices = 0;
  backend->packing = [=](std::vector<MatrixPart>& parts) mutable {
    // Output projection of the first layer: the scales are there once rows were read.
    if (++matrices != 3) return;
    scales->assign(parts[0].scales.size(), 0.5F);
    parts[0].scales = *scales;
  };
  EXPECT_TRUE(contains(fault_of(std::move(backend)), "model.layers.0.self_attn.o_proj.weight"));
}

TEST_F(SelfCheckAtStart, FindsAKernelThatGivesAWrongColumn) {
  llama();
  auto backend = std::make_unique<BrokenBackend>();
  backend->product = [](const Matrix& w, int64_t rows, float* out) {
    if (w.cols == 96) out[rows * w.rows - 1] += 0.5F;  // down: its last
  };
  EXPECT_TRUE(contains(fault_of(std::move(backend)), "model.layers.0.mlp.down_proj.weight, row 63"));
}

TEST_F(SelfCheckAtStart, FindsAnOperationThatDiffersFromTheReference) {
  hybrid();
  auto attention = std::make_unique<BrokenBackend>();
  attention->attention_factor = 2;
  EXPECT_TRUE(contains(fault_of(std::move(attention)), "attention"));
  auto chunk = std::make_unique<BrokenBackend>();
  chunk->chunk_factor = 2;
  EXPECT_TRUE(contains(fault_of(std::move(chunk)), "attention, value 0"));
  auto delta = std::make_unique<BrokenBackend>();
  delta->delta_factor = 9;
  EXPECT_TRUE(contains(fault_of(std::move(delta)), "linear attention"));
  auto gate = std::make_unique<BrokenBackend>();
  gate->gate_factor = 1.5F;
  EXPECT_TRUE(contains(fault_of(std::move(gate)), "gated activation"));
}

TEST_F(SelfCheckAtStart, FindsWhatIsWrongBesideTheMatrices) {
  experts();
  auto norm = std::make_unique<BrokenBackend>();
  norm->norm_factor = 1.2F;
  EXPECT_TRUE(contains(fault_of(std::move(norm)), "norm of a sum, value 63"));
  auto choice = std::make_unique<BrokenBackend>();
  choice->choice_offset = 1;
  EXPECT_TRUE(contains(fault_of(std::move(choice)), "routing, choice 0: found expert"));
  auto row = std::make_unique<BrokenBackend>();
  row->row_factor = 0.5F;
  EXPECT_TRUE(contains(fault_of(std::move(row)), "model.embed_tokens.weight, row 0 (a look-up"));
}

TEST_F(SelfCheckAtStart, FindsAnExpertOfWrongWeights) {
  experts();
  auto backend = std::make_unique<BrokenBackend>();
  backend->packing = [](std::vector<MatrixPart>& parts) {
    if (parts.size() == 2 && parts[0].rows == kWidth) std::swap(parts[0].read, parts[1].read);
  };
  EXPECT_TRUE(contains(fault_of(std::move(backend)), "model.layers.0.mlp.experts.0.down_proj.weight"));
}

// On all ranks, of which rank 1 has the backend that is made for it.
std::vector<std::string> run_ranks(int32_t size, const std::function<void(RankPlace)>& load_rank) {
  const TestSegment segment(size);
  std::vector<std::string> messages(size);
  std::vector<std::thread> threads;
  for (int32_t rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      failure_of([&] { load_rank({rank, size, segment.descriptor()}); }, &messages[rank]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return messages;
}

TEST_F(SelfCheckAtStart, PassesOnSeveralRanks) {
  for (const auto& write :
       std::vector<std::function<void()>>{[&] { llama(); }, [&] { hybrid(); }, [&] { experts(); }}) {
    write();
    const auto messages = run_ranks(2, [&](RankPlace place) {
      const auto engine =
          load(make_cpu_backend({.threads = 1, .rank = place.rank, .ranks = place.size}), place);
      if (place.rank != 0) engine->follow();
    });
    EXPECT_EQ(messages, std::vector<std::string>(2));
  }
}

TEST_F(SelfCheckAtStart, FindsTheRankThatHoldsThePartOfAnother) {
  llama();
  const std::string module = "model.layers.0.mlp.down_proj";
  const auto source = dir_.checkpoint();
  const Checkpoint checkpoint(*source);
  PartScales scales;
  const Band band{module, 64, 96, whole(64), {0, 48}};
  const MatrixPart first = matrix_part(stored_weight(checkpoint, module), band, scales, [](uint64_t) {});
  const auto messages = run_ranks(2, [&](RankPlace place) {
    auto backend = std::make_unique<BrokenBackend>();
    if (place.rank == 1) {
      // Its columns of down are those of rank 0.
      backend->packing = [&](std::vector<MatrixPart>& parts) {
        if (parts[0].cols == band.cols.count) parts[0].read = first.read;
      };
    }
    const auto engine = load(std::move(backend), place);
    if (place.rank != 0) engine->follow();
  });
  for (const std::string& message : messages) {
    EXPECT_TRUE(contains(message, "on rank 1 of 2"));
    EXPECT_TRUE(contains(message, "model.layers.0.mlp.down_proj.weight"));
  }
}

TEST_F(SelfCheckAtStart, FindsTheStageThatComputesWrongly) {
  llama();
  const auto messages = run_ranks(2, [&](RankPlace place) {
    place.stages = 2;
    auto backend = std::make_unique<BrokenBackend>();
    if (place.rank == 1) {
      backend->product = [](const Matrix& w, int64_t rows, float* out) {
        if (w.cols == 96) out[rows * w.rows - 1] += 0.5F;  // down: its last
      };
    }
    const auto engine = load(std::move(backend), place);
    if (place.rank != 0) engine->follow();
  });
  for (const std::string& message : messages) {
    EXPECT_TRUE(contains(message, "on rank 1 of 2"));
    EXPECT_TRUE(contains(message, "model.layers.1.mlp.down_proj.weight"));
  }
}

}  // namespace
}  // namespace llmservice
