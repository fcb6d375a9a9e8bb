#include "grammar/compiled_bytes.h"

#define XGRAMMAR_ENABLE_CPPTRACE 0
#define XGRAMMAR_ENABLE_INTERNAL_CHECK 0
#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "compiled_grammar_impl.h"
#include "grammar_impl.h"
#include "support/json_serializer.h"

namespace llmservice {
namespace {

using xgrammar::AdaptiveTokenMask;
using xgrammar::CompactFSM;
using xgrammar::DynamicBitset;
using xgrammar::ParserState;

class Writer {
 public:
  template <typename T>
  void value(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(T));
  }
  template <typename T>
  void list(const std::vector<T>& list) {
    value(static_cast<uint64_t>(list.size()));
    bytes_.append(reinterpret_cast<const char*>(list.data()), list.size() * sizeof(T));
  }
  void text(std::string_view text) {
    value(static_cast<uint64_t>(text.size()));
    bytes_ += text;
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  template <typename T>
  T value() {
    T value{};
    std::memcpy(static_cast<void*>(&value), take(1, sizeof(T)).data(), sizeof(T));
    return value;
  }
  template <typename T>
  std::vector<T> list() {
    const auto size = value<uint64_t>();
    const std::string_view bytes = take(size, sizeof(T));
    std::vector<T> list(size);
    if (size > 0) std::memcpy(list.data(), bytes.data(), bytes.size());
    return list;
  }
  std::string_view text() { return take(value<uint64_t>(), 1); }
  bool at_end() const { return rest_.empty(); }

 private:
  std::string_view take(uint64_t count, size_t size) {
    if (count > rest_.size() / size) throw std::runtime_error("A compiled grammar was cut.");
    const std::string_view taken = rest_.substr(0, count * size);
    rest_.remove_prefix(taken.size());
    return taken;
  }

  std::string_view rest_;
};

void check(bool sound) {
  if (!sound) throw std::runtime_error("A compiled grammar is not one of this vocabulary.");
}

// All but the automata of single rules, which are views of one.
std::string rules_of(const xgrammar::Grammar& grammar) {
  auto rules = std::make_shared<xgrammar::Grammar::Impl>(*grammar.ImplPtr());
  rules->per_rule_fsms.clear();
  rules->optimized = false;
  return xgrammar::AutoSerializeJSON(xgrammar::Grammar(rules));
}

void write_views(Writer& to, const xgrammar::Grammar& grammar) {
  to.value(static_cast<uint64_t>(grammar->per_rule_fsms.size()));
  for (const auto& view : grammar->per_rule_fsms) {
    if (!view || view->GetFsm().GetFsm().ImplPtr() != grammar->complete_fsm.ImplPtr())
      throw std::logic_error("A rule's automaton is no view of its grammar's.");
    to.value(view->GetFsm().GetStart());
    to.list(view->GetFsm().GetEnds());
    to.value(view->GetEdgeNum());
    to.value(view->GetNodeNum());
  }
}

void read_views(Reader& from, xgrammar::Grammar& grammar) {
  const int states = grammar->complete_fsm.NumStates();
  const auto is_state = [states](int state) { return state >= 0 && state < states; };
  const auto count = from.value<uint64_t>();
  check(count == static_cast<uint64_t>(grammar->NumRules()));
  for (uint64_t i = 0; i < count; ++i) {
    const auto start = from.value<int>();
    auto ends = from.list<int32_t>();
    check(is_state(start) && std::ranges::all_of(ends, is_state));
    const auto edges = from.value<int>();
    const auto nodes = from.value<int>();
    grammar->per_rule_fsms.emplace_back(
        std::in_place, xgrammar::CompactFSMWithStartEnd(grammar->complete_fsm, start, std::move(ends)), edges,
        nodes);
  }
  grammar->optimized = true;
}

xgrammar::Grammar read_grammar(Reader& from) {
  xgrammar::Grammar grammar{xgrammar::NullObj{}};
  if (const auto error = xgrammar::AutoDeserializeJSON(&grammar, std::string(from.text())))
    throw std::runtime_error(std::visit([](const auto& each) { return std::string(each.what()); }, *error));
  check(!grammar.IsNull() && !grammar->complete_fsm.IsNull());
  read_views(from, grammar);
  return grammar;
}

void write_mask(Writer& to, const AdaptiveTokenMask& mask) {
  to.value(mask.store_type);
  to.list(mask.accepted_indices);
  to.list(mask.rejected_indices);
  to.list(mask.uncertain_indices);
  const int bits = mask.accepted_bitset.Size();
  to.value(bits);
  std::vector<uint32_t> words(DynamicBitset::GetBufferSize(bits));
  DynamicBitset(bits, words.data()) |= mask.accepted_bitset;
  to.list(words);
}

// Masks hold places in the sorted vocabulary, or a bit for each id.
AdaptiveTokenMask read_mask(Reader& from, const xgrammar::TokenizerInfo& tokenizer) {
  const auto sorted = static_cast<int64_t>(tokenizer.GetSortedDecodedVocab().size());
  AdaptiveTokenMask mask;
  mask.store_type = from.value<AdaptiveTokenMask::StoreType>();
  for (auto* places : {&mask.accepted_indices, &mask.rejected_indices, &mask.uncertain_indices}) {
    *places = from.list<int32_t>();
    check(std::ranges::all_of(*places, [sorted](int32_t place) { return place >= 0 && place < sorted; }));
  }
  const auto bits = from.value<int>();
  auto words = from.list<uint32_t>();
  const bool is_bitset = mask.store_type == AdaptiveTokenMask::StoreType::kAcceptedBitset;
  check(is_bitset || mask.store_type == AdaptiveTokenMask::StoreType::kAccepted ||
        mask.store_type == AdaptiveTokenMask::StoreType::kRejected);
  check(bits == (is_bitset ? tokenizer.GetVocabSize() : 0) &&
        words.size() == static_cast<size_t>(DynamicBitset::GetBufferSize(bits)));
  mask.accepted_bitset = DynamicBitset(bits);
  mask.accepted_bitset |= DynamicBitset(bits, words.data());
  return mask;
}

}  // namespace

std::string to_bytes(const xgrammar::CompiledGrammar& compiled) {
  Writer to;
  to.text(rules_of(compiled->grammar));
  write_views(to, compiled->grammar);
  to.value(static_cast<uint64_t>(compiled->adaptive_token_mask_cache.size()));
  for (const auto& [state, mask] : compiled->adaptive_token_mask_cache) {
    to.value(state);
    write_mask(to, mask);
  }
  return to.take();
}

xgrammar::CompiledGrammar from_bytes(std::string_view bytes, const xgrammar::TokenizerInfo& tokenizer) {
  Reader from(bytes);
  auto compiled = std::make_shared<xgrammar::CompiledGrammar::Impl>();
  compiled->grammar = read_grammar(from);
  compiled->tokenizer_info = tokenizer;
  const auto masks = from.value<uint64_t>();
  for (uint64_t i = 0; i < masks; ++i) {
    const auto state = from.value<ParserState>();
    compiled->adaptive_token_mask_cache.emplace(state, read_mask(from, tokenizer));
  }
  check(from.at_end());
  return xgrammar::CompiledGrammar(compiled);
}

}  // namespace llmservice
