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
  void put(const std::string& text) { put(std::vector<char>(text.begin(), text.end())); }
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
  void get(std::string& text) {
    std::vector<char> characters;
    get(characters);
    text.assign(characters.begin(), characters.end());
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

template <class T>
std::vector<std::byte> encode(MessageKind kind, const T& value) {
  Writer writer;
  writer.put(kind);
  writer.put(value);
  return writer.take();
}

template <class T>
T decode(std::span<const std::byte> message) {
  T value{};
  Reader reader(message);
  MessageKind kind{};
  reader.get(kind);
  reader.get(value);
  if (!reader.at_end()) Reader::too_short();
  return value;
}

}  // namespace

std::vector<std::byte> encode_plan(const StepPlan& plan) { return encode(MessageKind::kPlan, plan); }
std::vector<std::byte> encode_part(const AdapterPart& part) { return encode(MessageKind::kAdapter, part); }
std::vector<std::byte> encode_unload(int32_t number) { return encode(MessageKind::kUnload, number); }
std::vector<std::byte> encode_offer(const KvOffer& offer) { return encode(MessageKind::kOffer, offer); }
std::vector<std::byte> encode_withdraw(const std::string& ticket) {
  return encode(MessageKind::kWithdraw, ticket);
}
std::vector<std::byte> encode_fetch(const KvFetch& fetch) { return encode(MessageKind::kFetch, fetch); }
std::vector<std::byte> encode_fetch_id(MessageKind kind, int32_t id) { return encode(kind, id); }

MessageKind kind_of(std::span<const std::byte> message) { return static_cast<MessageKind>(message.front()); }
StepPlan decode_plan(std::span<const std::byte> message) { return decode<StepPlan>(message); }
AdapterPart decode_part(std::span<const std::byte> message) { return decode<AdapterPart>(message); }
int32_t decode_unload(std::span<const std::byte> message) { return decode<int32_t>(message); }
KvOffer decode_offer(std::span<const std::byte> message) { return decode<KvOffer>(message); }
std::string decode_withdraw(std::span<const std::byte> message) { return decode<std::string>(message); }
KvFetch decode_fetch(std::span<const std::byte> message) { return decode<KvFetch>(message); }
int32_t decode_fetch_id(std::span<const std::byte> message) { return decode<int32_t>(message); }

}  // namespace llmservice
