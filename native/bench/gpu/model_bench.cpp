// The whole model in this process, plain and with drafts that a script decides upon.
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>

#include "../median.h"
#include "../random_checkpoint.h"
#include "backends/gpu/backend.h"
#include "bench.h"
#include "kernel_times.h"
#include "model_load.h"
#include "qwen_shape.h"

namespace llmservice::bench {
namespace {

using nlohmann::json;

// Lengths of sequences; the defaults of the serving API for the rest.
struct Scale {
  int32_t vocab;
  int32_t rows;
  Load one, many, first;  // `first`: up to its first token
  int32_t first_rounds;
  size_t graphs;
};

Scale scale_for(bool quick) {
  if (quick) return {static_cast<int32_t>(kTinyQwen.vocab), 128, {1, 70, 16}, {2, 128, 6}, {1, 128, 1}, 1, 4};
  return {static_cast<int32_t>(kQwen27B.vocab), 2048, {1, 1024, 256}, {16, 8192, 1024}, {1, 8192, 1}, 5, 64};
}

constexpr int32_t kBlock = 64;

class ModelBench {
 public:
  ModelBench(const std::filesystem::path& dir, const BenchOptions& options, bool drafts)
      : scale_(scale_for(options.quick)),
        drafts_(drafts ? options.drafts : 0),
        kernels_(options.timing()),
        limits_{.block_size = kBlock, .rows = scale_.rows, .drafts = drafts_, .vocab = scale_.vocab} {
    const int32_t longest =
        std::max(scale_.many.prompt + scale_.many.generated, scale_.one.prompt + scale_.one.generated);
    const EngineOptions engine{.checkpoint = read_description(dir),
                               .block_size = kBlock,
                               .num_blocks = scale_.many.sequences * ((longest + kBlock - 1) / kBlock),
                               .max_num_seqs = scale_.many.sequences,
                               .max_model_len = longest,
                               .max_num_batched_tokens = scale_.rows,
                               .speculation = {drafts ? DraftMethod::kMtp : DraftMethod::kNone, drafts_}};
    auto backend = std::make_unique<gpu::GpuBackend>(
        gpu::GpuOptions{.device = 0,
                        .graphs = scale_.graphs,
                        .on_list = [this](gpu::Device& device, const gpu::LaunchList& list) {
                          kernels_.take(device, list);
                        }});
    backend_ = backend.get();
    const double seconds = seconds_of([&] {
      engine_ = std::make_unique<Engine>(
          engine, std::move(backend), [](auto, auto) {},
          drafts ? std::make_unique<ScriptedDrafter>(truths_, options.right) : nullptr);
    });
    print("load", {{"seconds", seconds}, {"weight_bytes", engine_->info().weight_bytes}});
  }

  // The same work without drafts comes first: what it said is what the drafts are made of.
  Truths run(const Truths* plain) {
    const Truths one = decode(plain);
    if (plain == nullptr) first_token();
    return many(plain, one);
  }

  // A token of one sequence with each tuning.
  void tune() {
    std::optional<Truths> first;
    for (const gpu::ProductTuning& tuning : tunings()) {
      backend_->tune(tuning);
      Truths one(1);
      measured(scale_.one, &one);  // graphs are made
      LoadTimes times = measured(scale_.one, &one);
      if (!first) first = times.said;
      print("tuning", {{"resident", tuning.resident},
                       {"ahead_bytes", tuning.ahead_bytes},
                       {"micros_per_token", times.micros_per_token()},
                       {"step_micros", median(times.decode_micros)},
                       {"as_the_first", same(times.said, *first)}});
    }
  }

  void kernels() {
    look("decode, 1 sequence", {1, scale_.one.prompt, 12},
         [this](int32_t decoding, bool prefills) { return decoding == 1 && !prefills && ++seen_ == 10; });
    const int32_t all = scale_.many.sequences;
    look("decode, " + std::to_string(all) + " sequences", {all, scale_.one.prompt, 4 * all},
         [this, all](int32_t decoding, bool prefills) {
           return decoding == all && !prefills && ++seen_ == 3;
         });
    look("chunk of a prompt, " + std::to_string(scale_.rows) + " rows", {1, scale_.rows, 1},
         [this](int32_t, bool prefills) { return prefills && ++seen_ == 1; });
  }

 private:
  void print(const char* what, json values) const {
    values.update({{"section", "model"}, {"what", what}, {"drafts", drafts_}});
    std::printf("%s\n", values.dump().c_str());
    std::fflush(stdout);
  }

  LoadTimes measured(const Load& load, const Truths* plain) {
    *truths_ = plain == nullptr ? Truths(load.sequences) : *plain;
    LoadTimes times = run_load(*engine_, load, limits_);
    if (times.faults > 0) throw std::runtime_error("Random weights gave non-finite logits.");
    return times;
  }

  Truths decode(const Truths* plain) {
    Truths one(1);
    if (plain != nullptr) one[0] = plain->back();
    measured(scale_.one, &one);  // graphs are made
    LoadTimes times = measured(scale_.one, &one);
    print("decode", {{"sequences", 1},
                     {"prompt", scale_.one.prompt},
                     {"tokens", times.decode_tokens},
                     {"micros_per_token", times.micros_per_token()},
                     {"step_micros", median(times.decode_micros)},
                     {"drafted", times.drafts},
                     {"accepted", times.accepted},
                     {"graphs", backend_->graph_counts().captured}});
    return std::move(times.said);
  }

  void first_token() {
    std::vector<double> seconds;
    for (int i = 0; i < scale_.first_rounds; ++i) {
      seconds.push_back(measured(scale_.first, nullptr).first_token_seconds);
    }
    print("first token", {{"prompt", scale_.first.prompt}, {"seconds", median(seconds)}});
  }

  // What all said, and after it what the one alone did.
  Truths many(const Truths* plain, const Truths& one) {
    LoadTimes times = measured(scale_.many, plain);
    const double tokens =
        static_cast<double>(scale_.many.sequences) * (scale_.many.prompt + scale_.many.generated);
    print("load of many", {{"sequences", scale_.many.sequences},
                           {"prompt", scale_.many.prompt},
                           {"generated", scale_.many.generated},
                           {"seconds", times.seconds},
                           {"tokens_per_second", tokens / times.seconds},
                           {"step_micros", median(times.decode_micros)},
                           {"drafted", times.drafts},
                           {"accepted", times.accepted},
                           {"as_without_drafts", plain == nullptr || same(times.said, *plain)}});
    Truths said = std::move(times.said);
    said.push_back(one.front());
    return said;
  }

  static bool same(const Truths& said, const Truths& plain) {
    return std::equal(said.begin(), said.end(), plain.begin());
  }

  void look(const std::string& step, const Load& load, const std::function<bool(int32_t, bool)>& wanted) {
    seen_ = 0;
    bool looking = false;
    *truths_ = Truths(load.sequences);
    const auto end = [&] {
      if (!looking) return;
      looking = false;
      const StepTimes times = kernels_.end();
      print("step", {{"step", step}, {"launches", times.launches}, {"micros", times.whole_micros}});
      for (const KernelTime& k : times.kernels) {
        print("kernel", {{"step", step},
                         {"kernel", k.kernel},
                         {"grid", {k.grid.x, k.grid.y, k.grid.z}},
                         {"launches", k.launches},
                         {"micros", k.micros}});
      }
    };
    run_load(*engine_, load, limits_, [&](int32_t decoding, bool prefills) {
      end();
      looking = wanted(decoding, prefills);
      if (looking) kernels_.begin();
    });
    end();
  }

  Scale scale_;
  int32_t drafts_;
  KernelTimes kernels_;
  LoadLimits limits_;
  std::shared_ptr<Truths> truths_ = std::make_shared<Truths>();
  std::unique_ptr<Engine> engine_;
  gpu::GpuBackend* backend_ = nullptr;  // the engine's
  int seen_ = 0;
};

}  // namespace

void bench_model(const std::filesystem::path& dir, const BenchOptions& options) {
  Truths plain;
  {
    ModelBench bench(dir, options, false);
    plain = bench.run(nullptr);
    bench.kernels();
  }
  ModelBench bench(dir, options, true);
  bench.run(&plain);
  bench.kernels();
}

void bench_tunings(const std::filesystem::path& dir, const BenchOptions& options) {
  ModelBench(dir, options, false).tune();
}

}  // namespace llmservice::bench
