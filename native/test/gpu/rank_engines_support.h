// Engines on several ranks, each in a process of its own as in service: also the only rank, since a device
// that a process has used does not survive its fork(). What rank 0 reports goes through a file.
#pragma once

#include <sys/mman.h>

#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>

#include "failures.h"
#include "gpu_engine_support.h"
#include "parallel_support.h"

namespace llmservice::testing {

// No test waits longer for one of its processes.
constexpr unsigned kMaxSeconds = 600;

inline nlohmann::json to_json(const std::vector<Said>& all) {
  nlohmann::json list = nlohmann::json::array();
  for (const Said& said : all) {
    list.push_back({said.tokens, said.logprobs, said.top_tokens, said.top_logprobs, said.finish, said.steps});
  }
  return list;
}

inline std::vector<Said> said_in(const nlohmann::json& list) {
  std::vector<Said> all;
  for (const nlohmann::json& each : list) {
    Said& said = all.emplace_back();
    each.at(0).get_to(said.tokens);
    each.at(1).get_to(said.logprobs);
    each.at(2).get_to(said.top_tokens);
    each.at(3).get_to(said.top_logprobs);
    each.at(4).get_to(said.finish);
    each.at(5).get_to(said.steps);
  }
  return all;
}

class RankEngines : public GpuEngine {
 protected:
  using Work = std::function<nlohmann::json(Engine&, const Backend&)>;

  // Of rank `rank`; what it does beside the others is `work` on rank 0 and following on the others.
  struct Setting {
    int32_t size = 2;
    size_t graphs = 16;
    Speculation speculation = {};
    std::shared_ptr<const CheckpointSource> head = nullptr;  // what drafts, from a checkpoint of its own
    std::optional<MemoryShare> memory = {};                  // with it: as many blocks as fit
    Collectives collectives = Collectives::kAuto;
    int32_t max_adapter_rank = 0;
    // No machine is so busy that a rank is taken for one that stalled.
    GroupLimits limits = {.silence = std::chrono::seconds(60)};
    std::function<void(int32_t rank)> before_load = [](int32_t) {};
    std::function<void(int32_t rank)> after_load = [](int32_t) {};
  };

  // The processes of ranks, of the last one first: rank 0 is the last in the list.
  std::vector<RankProcess> start(const Setting& setting, const TestSegment* segment, const Work& work) {
    std::vector<RankProcess> processes;
    for (int32_t rank = setting.size - 1; rank >= 0; --rank) {
      processes.emplace_back([&, rank] {
        alarm(kMaxSeconds);
        std::optional<RankPlace> place;
        if (segment != nullptr) place = RankPlace{rank, setting.size, segment->descriptor()};
        run_rank(setting, rank, place, work);
      });
    }
    return processes;
  }

  // What `work` returns, or {"reason", "message"} of its error.
  nlohmann::json report_by(const Setting& setting, const Work& work) {
    std::optional<TestSegment> segment;
    if (setting.size > 1) segment.emplace(setting.size);
    std::vector<RankProcess> processes = start(setting, segment ? &*segment : nullptr, work);
    EXPECT_EQ(processes.back().wait(), 0) << "of rank 0";
    return report();
  }

  nlohmann::json report() const {
    std::ifstream file(dir_.path() / "report.json");
    return nlohmann::json::parse(file);
  }

  std::vector<Said> said_by(const Setting& setting, const std::vector<Request>& requests) {
    return said_in(report_by(setting, [&](Engine& engine, const Backend&) {
      return to_json(run_requests(engine, requests, setting.speculation.tokens));
    }));
  }

 private:
  void run_rank(const Setting& setting, int32_t rank, std::optional<RankPlace> place, const Work& work) {
    nlohmann::json result;
    try {
      setting.before_load(rank);
      int devices = 1;
      using namespace gpu;  // of the emulator; those of a vendor are in no namespace
      static_cast<void>(gpuGetDeviceCount(&devices));
      auto backend = std::make_unique<gpu::GpuBackend>(
          gpu::GpuOptions{.device = rank % devices, .graphs = setting.graphs});
      const Backend& seen = *backend;
      EngineOptions options = room_for_four(dir_, setting.speculation, place);
      options.dtype = DType::kBF16;
      options.checkpoint = dir_.checkpoint(GetParam().quantization);
      options.head = setting.head;
      options.memory = setting.memory;
      if (setting.memory) options.num_blocks = 1'000'000;
      options.collectives = setting.collectives;
      options.max_adapter_rank = setting.max_adapter_rank;
      options.limits = setting.limits;
      Engine engine(options, std::move(backend), [](auto, auto) {});
      setting.after_load(rank);
      if (rank > 0) return engine.follow();
      result = work(engine, seen);
    } catch (const EngineError& error) {
      if (rank > 0) throw;
      result = {{"reason", name_of(error.reason())}, {"message", error.what()}};
    }
    std::ofstream(dir_.path() / "report.json") << result;
  }
};

}  // namespace llmservice::testing
