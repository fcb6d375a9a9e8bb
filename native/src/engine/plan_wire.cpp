// Structures are taken apart by structured bindings: a field added to one does not compile until it travels
// too.
#include "engine/plan_wire.h"

#include <concepts>
#include <cstring>
#include <type_traits>

#include "ops/error.h"

namespace llmservice {
namespace {

template <class T>
concept Plain = std::is_trivially_copyable_v<T>;

class Writer {
 public:
  template <Plain T>
  void put(const T& value) {
    const auto* from = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), from, from + sizeof(T));
  }
  template <Plain T>
  void put(const std::vector<T>& values) {
    put(static_cast<uint64_t>(values.size()));
    const auto* from = reinterpret_cast<const std::byte*>(values.data());
    bytes_.insert(bytes_.end(), from, from + values.size() * sizeof(T));
  }
  void put(const Admission& admission) {
    const auto& [slot, tokens, cached_tokens, snapshot, prompt_length, max_length, stop_tokens, sampling,
                 prompt_logprobs, pooling, grammar, rules] = admission;
    put(slot);
    put(tokens);
    put(cached_tokens);
    put(snapshot);
    put(prompt_length);
    put(max_length);
    put(stop_tokens);
    put(sampling);
    put(prompt_logprobs);
    put(pooling);
    // Neither grammar nor rules: only rank 0 samples.
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <Plain T>
  void get(T& value) {
    std::memcpy(&value, next(sizeof(T)).data(), sizeof(T));
  }
  template <Plain T>
  void get(std::vector<T>& values) {
    const uint64_t count = get_count();
    if (count > bytes_.size() / sizeof(T)) too_short();
    values.resize(count);
    if (count > 0) std::memcpy(values.data(), next(count * sizeof(T)).data(), count * sizeof(T));
  }
  void get(Admission& admission) {
    auto& [slot, tokens, cached_tokens, snapshot, prompt_length, max_length, stop_tokens, sampling,
           prompt_logprobs, pooling, grammar, rules] = admission;
    get(slot);
    get(tokens);
    get(cached_tokens);
    get(snapshot);
    get(prompt_length);
    get(max_length);
    get(stop_tokens);
    get(sampling);
    get(prompt_logprobs);
    get(pooling);
  }
  uint64_t get_count() {
    uint64_t count = 0;
    get(count);
    return count;
  }
  bool at_end() const { return bytes_.empty(); }
  [[noreturn]] static void too_short() {
    throw EngineError(FailureReason::kEngineFault,
                      "A step plan from rank 0 is not one plan: the ranks run different builds.");
  }

 private:
  std::span<const std::byte> next(size_t count) {
    if (count > bytes_.size()) too_short();
    const auto found = bytes_.first(count);
    bytes_ = bytes_.subspan(count);
    return found;
  }

  std::span<const std::byte> bytes_;
};

}  // namespace

std::vector<std::byte> encode_plan(const StepPlan& plan) {
  const auto& [release, admit, blocks, rows, replace, saves, drafts, warmup, ahead] = plan;
  Writer writer;
  writer.put(release);
  writer.put(static_cast<uint64_t>(admit.size()));
  for (const Admission& admission : admit) writer.put(admission);
  writer.put(blocks);
  writer.put(rows);
  writer.put(replace);
  writer.put(saves);
  writer.put(drafts);
  writer.put(warmup);
  writer.put(ahead);
  return writer.take();
}

StepPlan decode_plan(std::span<const std::byte> bytes) {
  StepPlan plan;
  auto& [release, admit, blocks, rows, replace, saves, drafts, warmup, ahead] = plan;
  Reader reader(bytes);
  reader.get(release);
  for (uint64_t left = reader.get_count(); left > 0; --left) reader.get(admit.emplace_back());
  reader.get(blocks);
  reader.get(rows);
  reader.get(replace);
  reader.get(saves);
  reader.get(drafts);
  reader.get(warmup);
  reader.get(ahead);
  if (!reader.at_end()) Reader::too_short();
  return plan;
}

}  // namespace llmservice
