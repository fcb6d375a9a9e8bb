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
  void put(const std::vector<Admission>& admissions) {
    put(static_cast<uint64_t>(admissions.size()));
    for (const Admission& admission : admissions) put(admission);
  }
  template <Fielded T>
  requires(!Plain<T>) void put(const T& value) {
    visit_fields(value, [this](const char*, const auto& field) { put(field); });
  }
  // Only rank 0 samples.
  void put(const std::shared_ptr<const Grammar>&) {}
  void put(OrNeutral<const TokenRules>) {}
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
  void get(std::vector<Admission>& admissions) {
    for (uint64_t left = get_count(); left > 0; --left) get(admissions.emplace_back());
  }
  template <Fielded T>
  requires(!Plain<T>) void get(T& value) {
    visit_fields(value, [this](const char*, auto&& field) { get(field); });
  }
  void get(std::shared_ptr<const Grammar>&) {}
  void get(OrNeutral<TokenRules>) {}
  bool at_end() const { return bytes_.empty(); }
  [[noreturn]] static void too_short() {
    throw EngineError(FailureReason::kEngineFault,
                      "A step plan from rank 0 is not one plan: the ranks run different builds.");
  }

 private:
  uint64_t get_count() {
    uint64_t count = 0;
    get(count);
    return count;
  }
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
  Writer writer;
  writer.put(plan);
  return writer.take();
}

StepPlan decode_plan(std::span<const std::byte> bytes) {
  StepPlan plan;
  Reader reader(bytes);
  reader.get(plan);
  if (!reader.at_end()) Reader::too_short();
  return plan;
}

}  // namespace llmservice
