// What blocks of the kernels that a step of Qwen3.6-27B-FP8 runs take of a compute unit beside registers: the
// launches of the 64-lane form against native/src/backends/gpu/launches.tsv, from which test/gpu works out
// how many waves fit. Which kernel a launch runs is written here by hand, in the words of kernels.md.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "backends/gpu/kernels/attention.h"
#include "backends/gpu/kernels/gdn.h"
#include "backends/gpu/kernels/matmul.h"
#include "backends/gpu/kernels/rows.h"
#include "backends/gpu/vendor/vendor.h"

namespace llmservice::testing {
namespace {

using namespace llmservice::gpu;

// One partition of an MI300X as the smallest device: 38 compute units.
DeviceMatrix matrix(DType dtype, int32_t rows, int32_t cols) {
  return {.tiles = nullptr,
          .scales = nullptr,
          .scale_rows = kTileRows,
          .dtype = dtype,
          .order = TileOrder::kFragments,
          .rows = rows,
          .cols = cols,
          .stride = rows,
          .multiprocessors = 38};
}

Launches product(const DeviceMatrix& w, int64_t rows) { return matmul(w, nullptr, rows, nullptr, nullptr); }

class Table {
 public:
  void add(const std::string& kernel, const Launch& launch, const std::string& when) {
    text_ << kernel << '\t' << launch.threads << '\t' << launch.shared_bytes << '\t' << when << '\n';
  }
  std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_{"kernel\tthreads\tshared\twhen\n", std::ios::ate};
};

StepSegments segments(int32_t rows, int32_t longest) { return {nullptr, 1, rows, longest}; }

Launches gated_delta(int32_t rows) {
  const GdnShape shape{.k_heads = 16, .v_heads = 48, .k_dim = 128, .v_dim = 128, .conv_kernel = 4};
  return gdn(shape, segments(rows, rows), rows, nullptr, 16384, nullptr, nullptr, 96, nullptr, nullptr, {},
             nullptr, nullptr, {});
}

Launch gated_delta_step(const Activations& to) {
  const GdnShape shape{.k_heads = 16, .v_heads = 48, .k_dim = 128, .v_dim = 128, .conv_kernel = 4};
  return *gdn_step(shape, segments(1, 1), {nullptr, nullptr, nullptr, true}, nullptr, 16384, nullptr, nullptr,
                   96, nullptr, nullptr, {}, nullptr, {}, &to);
}

Launches attend(int32_t rows) {
  const AttentionShape shape{.heads = 24,
                             .kv_heads = 4,
                             .head_dim = 256,
                             .block_size = 64,
                             .kv_dtype = DType::kBF16,
                             .scale = 1.0f / 16};
  return attention(shape, segments(rows, 8192), nullptr, 24 * 256, {}, nullptr, nullptr);
}

std::string launches() {
  Table table;
  const DeviceMatrix ffn = matrix(DType::kF8E4M3, 2 * 17408, 5120);
  const DeviceMatrix head = matrix(DType::kBF16, 248320, 5120);
  const Activations activations = activations_of(ffn, 1, nullptr);
  table.add("norm_quantize_kernel<3, true>",
            add_rms_norm(activations, nullptr, nullptr, nullptr, 0, 1, nullptr, {}),
            "before attention and every FFN");
  table.add("quantize_kernel<3, GateMul<Silu, true> >", silu_mul(activations, nullptr, 1, nullptr),
            "within every FFN");
  table.add("quantize_kernel<3, Given<true> >", product(ffn, 1)[0], "after prompts of GDN");
  table.add("sliced_kernel<3, false, 1, 1>", product(ffn, 1)[1], "FP8, up to 16 tokens");
  table.add("sliced_kernel<3, false, 1, 2>", product(ffn, 32)[1], "FP8, up to 32 tokens");
  table.add("sliced_kernel<3, false, 2, 4>", product(ffn, 64)[1], "FP8, up to 64 tokens");
  table.add("walked_kernel<3, false>", product(ffn, 2048)[1], "FP8, prompts");
  table.add("sliced_kernel<1, false, 1, 1>", product(head, 1)[1], "BF16, up to 16 tokens: the head");
  const Launches prompt = gated_delta(2048);
  table.add("prepare_kernel<true>", prompt.at(0), "GDN, prompts");
  table.add("scan_kernel<true>", prompt.at(1), "GDN, prompts");
  table.add("step_kernel<HeadRecord<3> >", gated_delta_step(activations), "GDN, single tokens");
  const std::string heads_of_256 = "attention_kernel<AttentionPlan<256, unsigned short, ";
  table.add(heads_of_256 + "1, 4, false> >", attend(1).at(0), "attention, one or two tokens");
  table.add(heads_of_256 + "2, 4, false> >", attend(4).at(0), "attention, drafts verified");
  table.add(heads_of_256 + "4, 2, true> >", attend(2048).back(), "attention, prompts");
  table.add("add_rms_norm_kernel<true>", add_rms_norm(nullptr, nullptr, nullptr, 0, 1, 5120, nullptr, {}),
            "before the head");
  return table.text();
}

TEST(EmulatedLaunches, AreThoseThatOccupancyIsWorkedOutFrom) {
  const auto path = std::filesystem::path(__FILE__).parent_path() / "../../src/backends/gpu/launches.tsv";
  std::ifstream file(path);
  const std::string written((std::istreambuf_iterator<char>(file)), {});
  EXPECT_EQ(written, launches());
}

TEST(EmulatedLaunches, NameTheKernelsThatTheyRun) {
  EXPECT_STREQ(product(matrix(DType::kF8E4M3, 64, 128), 1)[0].name, "quantize");
  EXPECT_STREQ(gated_delta(2048).at(0).name, "gdn_prepare");
  EXPECT_STREQ(gated_delta(2048).at(1).name, "gdn_scan");
  EXPECT_STREQ(gated_delta_step(activations_of(matrix(DType::kF8E4M3, 64, 128), 1, nullptr)).name,
               "gdn_step");
  EXPECT_STREQ(attend(4).at(0).name, "attention_splits");
  EXPECT_STREQ(attend(2048).back().name, "attention");
}

}  // namespace
}  // namespace llmservice::testing
