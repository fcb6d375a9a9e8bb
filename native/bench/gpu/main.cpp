// llmservice_gpu_bench: times of operations, kernels and the whole model on the first device, as JSON lines.
#include <cstdio>
#include <cstring>
#include <exception>
#include <nlohmann/json.hpp>

#include "../random_checkpoint.h"
#include "backends/gpu/library.h"
#include "bench.h"
#include "qwen_shape.h"

namespace llmservice::bench {
namespace {

constexpr const char* kUsage =
    "usage: llmservice_gpu_bench ops [OP] [--quick]     operation by operation, or of one kind: product, "
    "attention, gdn\n"
    "       llmservice_gpu_bench write FOLDER [--quick]  a checkpoint of Qwen3.6-27B-FP8's shape, 29 GB\n"
    "       llmservice_gpu_bench model FOLDER [--quick]  that model, plain and with drafts\n"
    "       llmservice_gpu_bench tunings [FOLDER] [--quick]  products of few rows and a token of the model,\n"
    "                                                    with each way of using the device beside others\n"
    "--quick: a tiny shape, once, to show that everything runs\n";

void print_device() {
  gpu::DeviceList list;
  llmservice_gpu_devices(list);
  if (list.devices.empty()) throw EngineError(FailureReason::kDeviceUnavailable, list.problem);
  const gpu::DeviceFacts& device = list.devices.front();
  const nlohmann::json line = {{"section", "device"},
                               {"name", device.name},
                               {"architecture", device.architecture},
                               {"memory_bytes", device.memory_bytes},
                               {"multiprocessors", device.multiprocessors}};
  std::printf("%s\n", line.dump().c_str());
}

int main_of(std::vector<std::string> args) {
  const bool quick = std::erase(args, "--quick") > 0;
  // Three of four drafts are right.
  const BenchOptions options{.quick = quick, .drafts = 4, .right = 3};
  if (!args.empty() && args.size() <= 2 && args[0] == "ops") {
    print_device();
    bench_ops(options, args.size() == 2 ? args[1] : "");
  } else if (args.size() == 2 && args[0] == "write") {
    std::filesystem::create_directories(args[1]);
    write_random_checkpoint(args[1], qwen_shape(quick ? kTinyQwen : kQwen27B), WeightFormat::kFp8);
  } else if (args.size() == 2 && args[0] == "model") {
    print_device();
    bench_model(args[1], options);
  } else if (!args.empty() && args.size() <= 2 && args[0] == "tunings") {
    print_device();
    bench_product_tunings(options);
    if (args.size() == 2) bench_tunings(args[1], options);
  } else {
    std::fputs(kUsage, stderr);
    return 2;
  }
  return 0;
}

}  // namespace
}  // namespace llmservice::bench

int main(int argc, char** argv) {
  try {
    return llmservice::bench::main_of({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
