// Loading while weights still arrive: a load reads a piece only once it was reported to be there, only what
// its rank needs, and a wait ends with whatever ends the load.
#include <fcntl.h>
#include <gtest/gtest.h>

#include "engine/engine.h"
#include "failures.h"
#include "ops/reference.h"
#include "parallel_support.h"
#include "tiny_checkpoint.h"

namespace llmservice {
namespace {

using namespace llmservice::testing;

constexpr uint64_t kPieceBytes = 4096;

// Backwards, no read finds its piece there by luck of the order.
enum class Order { kForwards, kBackwards };

// A checkpoint of whose weights nothing is on disk, and whose pieces arrive on request.
class ArrivingCheckpoint {
 public:
  explicit ArrivingCheckpoint(TempDir& dir, Order order = Order::kBackwards)
      : path_(dir.path() / kWeightsFile), order_(order) {
    write_checkpoint(dir, tiny_llama_config(), tiny_llama_tensors());
    std::vector<TensorPlace> places;
    whole_ = to_data(tiny_llama_tensors(), &places);
    dir.write(kWeightsFile, std::string(whole_.size(), '\xff'));
    dir.write("arrivals", std::string(pieces(), '\0'));
    map_ = ::open((dir.path() / "arrivals").c_str(), O_RDWR | O_CLOEXEC);
    file_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
  }
  ~ArrivingCheckpoint() {
    ::close(map_);
    ::close(file_);
  }

  ArrivalMap map() const {
    return {.descriptor = map_, .piece_bytes = kPieceBytes, .first_pieces = {{kWeightsFile, 0}}};
  }
  uint64_t pieces() const { return (whole_.size() + kPieceBytes - 1) / kPieceBytes; }
  uint64_t arrived() const { return next_; }
  void next() const {
    if (next_ == pieces()) return;
    const uint64_t piece = order_ == Order::kForwards ? next_ : pieces() - 1 - next_;
    ++next_;
    const std::string bytes = whole_.substr(piece * kPieceBytes, kPieceBytes);
    EXPECT_EQ(::pwrite(file_, bytes.data(), bytes.size(), static_cast<off_t>(piece * kPieceBytes)),
              static_cast<ssize_t>(bytes.size()));
    EXPECT_EQ(::pwrite(map_, "\1", 1, static_cast<off_t>(piece)), 1);
  }
  void truncate() const { std::filesystem::resize_file(path_, kPieceBytes); }

 private:
  std::filesystem::path path_;
  Order order_;
  std::string whole_;
  int map_;
  int file_;
  mutable uint64_t next_ = 0;
};

class EngineArrivals : public ::testing::Test {
 protected:
  std::unique_ptr<Engine> load(std::optional<ArrivalMap> arrivals, const ModelProgress& on_progress,
                               std::optional<RankPlace> place = std::nullopt) {
    const EngineOptions options{.checkpoint = dir_.checkpoint(),
                                .block_size = 16,
                                .num_blocks = 4,
                                .max_num_seqs = 1,
                                .max_model_len = 64,
                                .max_num_batched_tokens = 80,
                                .dtype = DType::kF32,
                                .place = place,
                                .arrivals = std::move(arrivals)};
    return std::make_unique<Engine>(options, std::make_unique<ReferenceBackend>(), on_progress);
  }

  static std::vector<float> logprobs(Engine& engine) {
    StepPlan plan;
    plan.admit = {{.slot = 0,
                   .tokens = {1, 2, 3, 4, 5, 6, 7},
                   .prompt_length = 7,
                   .max_length = 40,
                   .stop_tokens = {},
                   .sampling = {.top_logprobs = 20}}};
    plan.blocks = {{0, 0}};
    plan.rows = {{0, 7}};
    return engine.step(plan).top_logprobs;
  }

  TempDir dir_;
};

TEST_F(EngineArrivals, ReadsAPieceOnlyOnceItIsThere) {
  const ArrivingCheckpoint checkpoint(dir_);
  uint64_t waits = 0;
  const auto engine = load(checkpoint.map(), [&](uint64_t done, uint64_t total) {
    EXPECT_LE(done, total);
    ++waits;
    checkpoint.next();
  });
  EXPECT_EQ(checkpoint.arrived(), checkpoint.pieces());
  EXPECT_GE(waits, checkpoint.pieces());
  const std::vector<float> found = logprobs(*engine);
  const auto plain = load(std::nullopt, [](auto, auto) {});
  EXPECT_EQ(found, logprobs(*plain));
  EXPECT_EQ(found.size(), 20U);
}

TEST_F(EngineArrivals, HasTheFirstLayersInMemoryBeforeTheLastPieceArrives) {
  const ArrivingCheckpoint checkpoint(dir_, Order::kForwards);
  uint64_t loaded = 0;
  uint64_t looks = 0;
  load(checkpoint.map(), [&](uint64_t done, uint64_t) {
    // Held back until the load has stalled for a while.
    const bool last = checkpoint.arrived() + 1 == checkpoint.pieces();
    looks = last && done == loaded ? looks + 1 : 0;
    if (checkpoint.arrived() < checkpoint.pieces()) loaded = done;
    if (!last || looks == 10) checkpoint.next();
  });
  const uint64_t embedding = 211 * 64 * 2;
  const uint64_t layer = 2 * (2 * 64 + 64 * 64 * 2 + 32 * 64 * 2 + 3 * 96 * 64);
  // The last piece holds the end of layer 1 and the norm.
  EXPECT_GE(loaded, embedding + layer);
  EXPECT_LT(loaded, embedding + 2 * layer);
}

TEST_F(EngineArrivals, NamesAFileThatIsCutShortUnderTheLoad) {
  const ArrivingCheckpoint checkpoint(dir_);
  std::string message;
  EXPECT_EQ(failure_of(
                [&] {
                  load(checkpoint.map(), [&](auto, auto) {
                    while (checkpoint.arrived() < checkpoint.pieces()) checkpoint.next();
                    checkpoint.truncate();
                  });
                },
                &message),
            "CheckpointCorrupt");
  EXPECT_TRUE(contains(message, "model.safetensors: the file ended early, at byte 4096"));
}

TEST_F(EngineArrivals, EndsAWaitWhenAnotherRankGivesUp) {
  const ArrivingCheckpoint checkpoint(dir_);
  const TestSegment segment(2);
  std::thread other([&] {
    const auto give_up = [](auto, auto) { throw EngineError(FailureReason::kWeightsDiskFull, "no room"); };
    EXPECT_EQ(failure_of([&] {
                load(checkpoint.map(), give_up, RankPlace{1, 2, segment.descriptor()});
              }),
              "WeightsDiskFull");
  });
  std::string message;
  EXPECT_EQ(failure_of(
                [&] {
                  load(
                      checkpoint.map(), [](auto, auto) {}, RankPlace{0, 2, segment.descriptor()});
                },
                &message),
            "WeightsDiskFull");
  EXPECT_TRUE(contains(message, "Rank 1 of 2: no room"));
  other.join();
}

TEST_F(EngineArrivals, RefusesAMapThatDoesNotCoverTheWholeFile) {
  const ArrivingCheckpoint checkpoint(dir_);
  ArrivalMap map = checkpoint.map();
  map.first_pieces[kWeightsFile] = 1;
  while (checkpoint.arrived() < checkpoint.pieces()) checkpoint.next();
  std::string message;
  EXPECT_EQ(failure_of([&] { load(map, [](auto, auto) {}); }, &message), "EngineFault");
  EXPECT_TRUE(contains(message, "of model.safetensors"));
}

// Bytes that this thread has read from files, as the kernel counts them.
uint64_t bytes_read() {
  std::ifstream io("/proc/thread-self/io");
  std::string name;
  uint64_t bytes = 0;
  io >> name >> bytes;
  EXPECT_EQ(name, "rchar:");
  return bytes;
}

// A llama whose matrices outweigh what every rank reads: header, norms, and the buffers of parsers.
Tensors wide_tensors() {
  std::mt19937 random(3);
  Tensors t;
  t["model.embed_tokens.weight"] = bf16_tensor({256, 256}, 0, 1, random);
  t["model.norm.weight"] = bf16_tensor({256}, 1, 0.1F, random);
  const std::string p = "model.layers.0.";
  for (const char* norm : {"input_layernorm", "post_attention_layernorm"}) {
    t[p + norm + ".weight"] = bf16_tensor({256}, 1, 0.1F, random);
  }
  for (const char* name : {"q_proj", "k_proj", "v_proj", "o_proj"}) {
    t[p + "self_attn." + name + ".weight"] = bf16_tensor({256, 256}, 0, 0.1F, random);
  }
  t[p + "mlp.gate_proj.weight"] = bf16_tensor({1024, 256}, 0, 0.1F, random);
  t[p + "mlp.up_proj.weight"] = bf16_tensor({1024, 256}, 0, 0.1F, random);
  t[p + "mlp.down_proj.weight"] = bf16_tensor({256, 1024}, 0, 0.1F, random);
  return t;
}

TEST_F(EngineArrivals, ReadsOnEachRankOnlyItsSlices) {
  ModelConfig config = tiny_llama_config();
  config.hidden = 256;
  config.layers = {LayerKind::kAttention};
  config.feed_forward = {FeedForwardKind::kDense};
  config.windows = {0};
  config.heads = 8;
  config.kv_heads = 8;
  config.head_dim = 32;
  config.rope.rotary = 32;
  config.intermediate = 1024;
  config.vocab = 256;
  write_checkpoint(dir_, config, wide_tensors());
  const uint64_t stored = std::filesystem::file_size(dir_.path() / kWeightsFile);
  for (const int32_t size : {1, 2, 4, 8}) {
    const TestSegment segment(std::max(size, 2));
    std::vector<uint64_t> read(size);
    std::vector<std::thread> ranks;
    for (int32_t rank = 0; rank < size; ++rank) {
      ranks.emplace_back([&, rank] {
        std::optional<RankPlace> place;
        if (size > 1) place = RankPlace{rank, size, segment.descriptor()};
        const uint64_t before = bytes_read();
        const auto engine = load(
            std::nullopt, [](auto, auto) {}, place);
        read[rank] = bytes_read() - before;
        rank == 0 ? void() : engine->follow();
      });
    }
    for (std::thread& rank : ranks) rank.join();
    for (const uint64_t bytes : read) {
      EXPECT_GE(bytes, stored / size - 8192) << size << " ranks";
      EXPECT_LE(bytes, stored / size + 16384) << size << " ranks";
    }
  }
}

}  // namespace
}  // namespace llmservice
