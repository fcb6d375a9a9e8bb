// Generated from native/ts/bridge/ by `npm run generate`. Do not edit.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace llmservice {

class Grammar;

// What JavaScript calls the values of an enum.
template <class Enum>
inline constexpr std::array<const char*, 0> kNames{};

template <class Enum>
concept Named = std::is_enum_v<Enum> && !kNames<Enum>.empty();

constexpr const char* name_of(Named auto value) {
  return kNames<decltype(value)>[static_cast<size_t>(value)];
}

// Of a field that null may stand for.
template <class T>
struct OrNeutral {
  T& value;
};
template <class T>
OrNeutral<T> or_neutral(T& value) {
  return {value};
}

// Whether JavaScript has vectors of it as one array of integers.
template <class T>
inline constexpr bool kIsRow = false;

template <class T, class Struct>
concept Is = std::same_as<std::remove_const_t<T>, Struct>;

// What an engine may take of a device or of the partition that it is: KV gets what is free, less what the
// share leaves to others, less `graphBytes`. Clearly less than `plannedBlocks`, or than one sequence needs,
// is refused.
struct MemoryShare {
  int32_t utilization_percent = 0;
  // What the driver keeps for this process at most; what is held beyond it is another process's.
  int64_t context_bytes = 0;
  // What graphs, code that is loaded late and adapters may still take.
  int64_t graph_bytes = 0;
  int32_t planned_blocks = 0;
};

void visit_fields(Is<MemoryShare> auto& value, auto&& visit) {
  [[maybe_unused]] auto& [utilization_percent, context_bytes, graph_bytes, planned_blocks] = value;
  visit("utilizationPercent", value.utilization_percent);
  visit("contextBytes", value.context_bytes);
  visit("graphBytes", value.graph_bytes);
  visit("plannedBlocks", value.planned_blocks);
}

enum class ComputeDtype : uint8_t { kAuto, kBfloat16, kFloat32 };

template <>
inline constexpr std::array<const char*, 3> kNames<ComputeDtype>{"auto", "bfloat16", "float32"};

enum class KvCacheDtype : uint8_t { kAuto, kFp8 };

template <>
inline constexpr std::array<const char*, 2> kNames<KvCacheDtype>{"auto", "fp8"};

enum class DraftMethod : uint8_t { kNone, kNgram, kMtp, kEagle3, kDraftModel };

template <>
inline constexpr std::array<const char*, 5> kNames<DraftMethod>{"none", "ngram", "mtp", "eagle3",
                                                                "draft_model"};

// How the next tokens of sequences are guessed, to be verified several at once. Outputs are the same without.
struct Speculation {
  // `ngram`: from the sequence itself; `mtp`: by the checkpoint's layer for multi-token prediction; `eagle3`:
  // by an EAGLE-3 draft model; `draft_model`: by a smaller model with the same tokenizer.
  DraftMethod method = DraftMethod::kNone;
  // Most drafts of one sequence in one step; 0 where the method is none.
  int32_t tokens = 0;
};

void visit_fields(Is<Speculation> auto& value, auto&& visit) {
  [[maybe_unused]] auto& [method, tokens] = value;
  visit("method", value.method);
  visit("tokens", value.tokens);
}

enum class DeviceKind : uint8_t { kCpu, kCuda, kHip, kEmulator };

template <>
inline constexpr std::array<const char*, 4> kNames<DeviceKind>{"cpu", "cuda", "hip", "emulator"};

enum class CollectivesChoice : uint8_t { kAuto, kOwn, kLibrary };

template <>
inline constexpr std::array<const char*, 3> kNames<CollectivesChoice>{"auto", "own", "library"};

enum class CpuIsa : uint8_t { kAuto, kFloat32, kPortable, kAvx2, kAvx512, kAvx512bf16, kAmx };

template <>
inline constexpr std::array<const char*, 7> kNames<CpuIsa>{"auto",   "float32",    "portable", "avx2",
                                                           "avx512", "avx512bf16", "amx"};

// What an engine needs to know to send and fetch KV.
struct TransferOptions {
  // There rank 0 listens, and rank r at so many more; null: this engine only fetches.
  std::optional<int32_t> port = std::nullopt;
  // What the engine cannot see itself of what its blocks mean: of two with another text neither fetches from
  // the other.
  std::string identity = {};
};

void visit_fields(Is<TransferOptions> auto& value, auto&& visit) {
  [[maybe_unused]] auto& [port, identity] = value;
  visit("port", value.port);
  visit("identity", value.identity);
}

// Nodes that have the same number of ranks of one group each, in their order, and how they find each other.
struct NodePlace {
  // Of this node; 0 leads.
  int32_t index = 0;
  int32_t count = 0;
  // Name or address of node 0.
  std::string leader = {};
  // There it listens.
  int32_t port = 0;
  // This node's, for people.
  std::string name = {};
  // JSON of what must be equal on all nodes: what differs is refused by name.
  std::string plan = {};
  // How long nodes wait for each other before they load.
  int32_t wait_ms = 0;
};

void visit_fields(Is<NodePlace> auto& value, auto&& visit) {
  [[maybe_unused]] auto& [index, count, leader, port, name, plan, wait_ms] = value;
  visit("index", value.index);
  visit("count", value.count);
  visit("leader", value.leader);
  visit("port", value.port);
  visit("name", value.name);
  visit("plan", value.plan);
  visit("waitMs", value.wait_ms);
}

// One rank's place in a group of ranks that have one model.
struct RankPlace {
  int32_t rank = 0;
  int32_t size = 0;
  // Descriptor of the group's shared memory in this process, of which each node has its own; see
  // `makeSegment`.
  int32_t segment = 0;
  // Null: all ranks are on this one.
  std::optional<NodePlace> nodes = std::nullopt;
  // Stages of equally many tensor-parallel ranks, in their order, among which the layers are divided; null:
  // all ranks are of one.
  std::optional<int32_t> stages = std::nullopt;
};

void visit_fields(Is<RankPlace> auto& value, auto&& visit) {
  [[maybe_unused]] auto& [rank, size, segment, nodes, stages] = value;
  visit("rank", value.rank);
  visit("size", value.size);
  visit("segment", value.segment);
  visit("nodes", value.nodes);
  visit("stages", value.stages);
}

// What the addon needs to know of a checkpoint and of the room it may take.
struct BoundOptions {
  // As describe-checkpoint.ts writes it.
  std::string checkpoint = {};
  // What drafts: another checkpoint of the same model, for its layer, or a draft model; null: the model's own
  // layer.
  std::optional<std::string> head = std::nullopt;
  // Tokens per KV block; divides 64 or is a multiple of it.
  int32_t block_size = 0;
  // KV blocks of the paged cache; with `memory`, the most that can be of use.
  int32_t num_blocks = 0;
  // On GPUs: as many blocks as fit what the device has left once all else lies there, on the rank that has
  // least; null, and always on the CPU: `numBlocks`.
  std::optional<MemoryShare> memory = std::nullopt;
  // Sequences that may hold a slot (token state, recurrent state) at once.
  int32_t max_num_seqs = 0;
  // Copies of a slot's recurrent state that can be kept for other sequences; 0 for models without one.
  int32_t num_state_snapshots = 0;
  // Longest sequence, prompt plus output, in tokens.
  int32_t max_model_len = 0;
  // Rows of the largest step: at least maxNumSeqs x (1 + speculative.tokens) + 64.
  int32_t max_num_batched_tokens = 0;
  // Type of KV cache and unquantized weights; auto is bfloat16. F16 matrices stay F16 unless it is float32.
  ComputeDtype dtype = ComputeDtype::kAuto;
  // auto: KV is kept in `dtype`; fp8: in e4m3 with a scale per token and head.
  KvCacheDtype kv_cache_dtype = KvCacheDtype::kAuto;
  Speculation speculative = {};
  // Compute threads; null: one per physical core this process may use.
  std::optional<int32_t> threads = std::nullopt;
  // What runs the model. GPUs: the rank's own device, or the load fails with DeviceUnavailable; `emulator`,
  // where it was built, runs their kernels on the CPU, for tests.
  DeviceKind device = DeviceKind::kCpu;
  // Of several ranks on GPUs, who adds up: this code, in rank order, or the vendor's library (NCCL, RCCL), in
  // an order of its own; auto: the library where devices do not reach each other's memory.
  CollectivesChoice collectives = CollectivesChoice::kAuto;
  // CPU instruction family; auto: the best this machine has; float32: the best that does not round
  // activations.
  CpuIsa isa = CpuIsa::kAuto;
  // Report a hash of the logits behind each sampled token: for tests of identity, which pay a pass over the
  // vocabulary.
  bool logit_hashes = false;
  // After the load, compare what each rank computes with what the checkpoint's bytes and a scalar reference
  // say: of one layer of each kind. A difference fails the load with EngineNumericalFault.
  bool self_check = false;
  // Largest rank of the adapters that will be loaded, for which GPUs keep room; 0: none will.
  int32_t max_adapter_rank = 0;
  // For KV that goes to other engines or comes from them; null: none does.
  std::optional<TransferOptions> transfer = std::nullopt;
  // Of several ranks, which one this is; null: the only one.
  std::optional<RankPlace> place = std::nullopt;
};

void visit_fields(Is<BoundOptions> auto& value, auto&& visit) {
  [[maybe_unused]] auto& [checkpoint, head, block_size, num_blocks, memory, max_num_seqs, num_state_snapshots,
                          max_model_len, max_num_batched_tokens, dtype, kv_cache_dtype, speculative, threads,
                          device, collectives, isa, logit_hashes, self_check, max_adapter_rank, transfer,
                          place] = value;
  visit("checkpoint", value.checkpoint);
  visit("head", value.head);
  visit("blockSize", value.block_size);
  visit("numBlocks", value.num_blocks);
  visit("memory", value.memory);
  visit("maxNumSeqs", value.max_num_seqs);
  visit("numStateSnapshots", value.num_state_snapshots);
  visit("maxModelLen", value.max_model_len);
  visit("maxNumBatchedTokens", value.max_num_batched_tokens);
  visit("dtype", value.dtype);
  visit("kvCacheDtype", value.kv_cache_dtype);
  visit("speculative", value.speculative);
  visit("threads", value.threads);
  visit("device", value.device);
  visit("collectives", value.collectives);
  visit("isa", value.isa);
  visit("logitHashes", value.logit_hashes);
  visit("selfCheck", value.self_check);
  visit("maxAdapterRank", value.max_adapter_rank);
  visit("transfer", value.transfer);
  visit("place", value.place);
}

// Weights that still arrive: whoever fetches them says what is there in a file of one byte per piece, not 0
// once the piece is on disk. Headers are on disk from the start; every other read waits for its pieces.
struct ArrivalMap {
  // Descriptor of that file in this process.
  int32_t descriptor = 0;
  int32_t piece_bytes = 0;
  // By name of a weight file, the byte of its first piece. A file that is not named is complete.
  std::map<std::string, int32_t> first_pieces = {};
};

void visit_fields(Is<ArrivalMap> auto& value, auto&& visit) {
  [[maybe_unused]] auto& [descriptor, piece_bytes, first_pieces] = value;
  visit("descriptor", value.descriptor);
  visit("pieceBytes", value.piece_bytes);
  visit("firstPieces", value.first_pieces);
}

// Sampling of one sequence; every field has its value in `greedy` when not asked for.
struct SamplingParams {
  // 0 is greedy.
  float temperature = 0;
  float top_p = 1;
  // 0: off.
  int32_t top_k = 0;
  float min_p = 0;
  // Locally typical sampling; 1: off.
  float typical_p = 1;
  uint64_t seed = 0;
  float repetition_penalty = 1;
  float presence_penalty = 0;
  float frequency_penalty = 0;
  // Alternatives to report per token, 0–20; null: no logprobs at all.
  std::optional<int32_t> top_logprobs = std::nullopt;
};

void visit_fields(Is<SamplingParams> auto& value, auto&& visit) {
  [[maybe_unused]] auto& [temperature, top_p, top_k, min_p, typical_p, seed, repetition_penalty,
                          presence_penalty, frequency_penalty, top_logprobs] = value;
  visit("temperature", value.temperature);
  visit("topP", value.top_p);
  visit("topK", value.top_k);
  visit("minP", value.min_p);
  visit("typicalP", value.typical_p);
  visit("seed", value.seed);
  visit("repetitionPenalty", value.repetition_penalty);
  visit("presencePenalty", value.presence_penalty);
  visit("frequencyPenalty", value.frequency_penalty);
  visit("topLogprobs", value.top_logprobs);
}

enum class Pooling : uint8_t { kNone, kLast, kMean, kCls };

template <>
inline constexpr std::array<const char*, 4> kNames<Pooling>{"none", "last", "mean", "cls"};

// How long the model may reason before it has to answer: it comes before every other rule.
struct ReasoningBudget {
  // Between `begin` and `end`, which comes once they are spent.
  int32_t tokens = 0;
  // Tokens of space alone, ascending, which may stand before `begin`.
  std::vector<int32_t> blanks = {};
  // Null: the prompt begins it.
  std::optional<int32_t> begin = std::nullopt;
  int32_t end = 0;
};

void visit_fields(Is<ReasoningBudget> auto& value, auto&& visit) {
  [[maybe_unused]] auto& [tokens, blanks, begin, end] = value;
  visit("tokens", value.tokens);
  visit("blanks", value.blanks);
  visit("begin", value.begin);
  visit("end", value.end);
}

// What a request says of single tokens, whatever the model thinks of them.
struct TokenRules {
  // Ids, each once.
  std::vector<int32_t> biased = {};
  // What is added to the logit of each of `biased`, before the penalties.
  std::vector<float> biases = {};
  // Ids that alone may be generated, ascending; empty: all.
  std::vector<int32_t> allowed = {};
  // Sequences of ids that generation must not complete, one after the other.
  std::vector<int32_t> banned = {};
  // Where each of them ends in `banned`.
  std::vector<int32_t> banned_ends = {};
  // Tokens to generate before one of `stopTokens` may be.
  int32_t min_tokens = 0;
  // Ids, each once and up to 128, whose logprobs are reported with each token in place of those of the
  // likeliest; needs `sampling.topLogprobs`.
  std::vector<int32_t> reported = {};
  // Null: without bound.
  std::optional<ReasoningBudget> reasoning = std::nullopt;
};

void visit_fields(Is<TokenRules> auto& value, auto&& visit) {
  [[maybe_unused]] auto& [biased, biases, allowed, banned, banned_ends, min_tokens, reported, reasoning] =
      value;
  visit("biased", value.biased);
  visit("biases", value.biases);
  visit("allowed", value.allowed);
  visit("banned", value.banned);
  visit("bannedEnds", value.banned_ends);
  visit("minTokens", value.min_tokens);
  visit("reported", value.reported);
  visit("reasoning", value.reasoning);
}

// Puts a sequence into a free slot. After preemption it is admitted again with what it had generated.
struct Admission {
  int32_t slot = 0;
  // Prompt, then tokens generated before a preemption.
  std::vector<int32_t> tokens = {};
  // How many of `tokens` are computed already: their KV lies in the blocks that the slot is given first. A
  // whole number of blocks, and at least one token is left; for hybrid models also a multiple of 64 within
  // the prompt.
  int32_t cached_tokens = 0;
  // Where a hybrid model's state after `cachedTokens` was saved; null when it starts at 0 or keeps no state.
  std::optional<int32_t> snapshot = std::nullopt;
  // How many of `tokens` are the client's prompt (fixes the chunked/recurrent border of hybrid models).
  int32_t prompt_length = 0;
  // Generation ends when the sequence has this many tokens, prompt included.
  int32_t max_length = 0;
  // Ids that end generation (reported as `stop`, not part of the text).
  std::vector<int32_t> stop_tokens = {};
  SamplingParams sampling = {};
  // Report the logprobs of the prompt's own tokens too; needs `sampling.topLogprobs` and no `cachedTokens`.
  bool prompt_logprobs = false;
  // Instead of tokens, the hidden state after the final norm: of the last token, the mean of all or that of
  // the first (then no `cachedTokens`). The sequence ends with its prompt: `maxLength` is its length.
  Pooling pooling = Pooling::kNone;
  // What is generated must be; null: anything.
  std::shared_ptr<const Grammar> constraint = nullptr;
  // Null: none. Rules and constraint together may leave no token: a fault `deadEnd`.
  TokenRules rules = {};
  // Number of the adapter that the sequence uses; 0: none.
  int32_t adapter = 0;
};

void visit_fields(Is<Admission> auto& value, auto&& visit) {
  [[maybe_unused]] auto& [slot, tokens, cached_tokens, snapshot, prompt_length, max_length, stop_tokens,
                          sampling, prompt_logprobs, pooling, constraint, rules, adapter] = value;
  visit("slot", value.slot);
  visit("tokens", value.tokens);
  visit("cachedTokens", value.cached_tokens);
  visit("snapshot", value.snapshot);
  visit("promptLength", value.prompt_length);
  visit("maxLength", value.max_length);
  visit("stopTokens", value.stop_tokens);
  visit("sampling", value.sampling);
  visit("promptLogprobs", value.prompt_logprobs);
  visit("pooling", value.pooling);
  visit("constraint", value.constraint);
  visit("rules", or_neutral(value.rules));
  visit("adapter", value.adapter);
}

struct SlotBlock {
  int32_t slot = 0;
  int32_t block = 0;
};

void visit_fields(Is<SlotBlock> auto& value, auto&& visit) {
  [[maybe_unused]] auto& [slot, block] = value;
  visit("slot", value.slot);
  visit("block", value.block);
}

template <>
inline constexpr bool kIsRow<SlotBlock> = true;

// At most `count` rows: known tokens, then drafts. 1 for a decode without drafts, and at most 1 more for each
// draft.
struct RowEntry {
  int32_t slot = 0;
  int32_t count = 0;
};

void visit_fields(Is<RowEntry> auto& value, auto&& visit) {
  [[maybe_unused]] auto& [slot, count] = value;
  visit("slot", value.slot);
  visit("count", value.count);
}

template <>
inline constexpr bool kIsRow<RowEntry> = true;

// The slot's whole, computed block `index` is replaced by one with the same KV.
struct Replacement {
  int32_t slot = 0;
  int32_t index = 0;
  int32_t block = 0;
};

void visit_fields(Is<Replacement> auto& value, auto&& visit) {
  [[maybe_unused]] auto& [slot, index, block] = value;
  visit("slot", value.slot);
  visit("index", value.index);
  visit("block", value.block);
}

template <>
inline constexpr bool kIsRow<Replacement> = true;

// Keeps the state after the slot's first `position` tokens, which rows of this step compute; a multiple of 64
// within the prompt, ascending within a slot.
struct StateSave {
  int32_t slot = 0;
  int32_t position = 0;
  int32_t snapshot = 0;
};

void visit_fields(Is<StateSave> auto& value, auto&& visit) {
  [[maybe_unused]] auto& [slot, position, snapshot] = value;
  visit("slot", value.slot);
  visit("position", value.position);
  visit("snapshot", value.snapshot);
}

template <>
inline constexpr bool kIsRow<StateSave> = true;

// Of a step that is run for its time alone, before an engine serves. `cachedTokens` of its admissions need
// neither blocks that anybody has computed nor a snapshot: whatever lies there is taken. A row entry that
// goes beyond the known tokens makes up its drafts, and sequences continue after any end. Once all slots that
// it admitted are released, nothing is left of it.
struct WarmupRun {
  // Drafts that each sequence's last step is taken to have had right, up to speculative.tokens.
  int32_t accepted_drafts = 0;
};

void visit_fields(Is<WarmupRun> auto& value, auto&& visit) {
  [[maybe_unused]] auto& [accepted_drafts] = value;
  visit("acceptedDrafts", value.accepted_drafts);
}

// One forward step over many sequences: the only way to compute. Order: releases, admissions, replacements,
// block appends, rows, saves. A row entry advances its slot by `count` tokens from where the slot stands;
// when that reaches the last known token, one new token is sampled and kept in the slot. Rows beyond it
// verify drafts that the slot holds: each that is equal to the token sampled in its place gives one more
// token. Drafts are gone after the slot's next step; how many new ones it holds then, the result says. A
// block whose tokens are all computed may be in any number of tables, and keeps its content when no table has
// it any more, until it is appended to be written. A block that is still written to is in one table.
struct StepPlan {
  // Slots to free.
  std::vector<int32_t> release = {};
  std::vector<Admission> admit = {};
  // Appends to the slots' block tables.
  std::vector<SlotBlock> blocks = {};
  // The sum of counts is at most maxNumBatchedTokens.
  std::vector<RowEntry> rows = {};
  std::vector<Replacement> replace = {};
  // Of hybrid models.
  std::vector<StateSave> saves = {};
  // Drafts to make at most for each sequence of this step that is left with one known token to compute; up to
  // speculative.tokens.
  int32_t drafts = 0;
  // Null: a step that counts.
  std::optional<WarmupRun> warmup = std::nullopt;
  // Made before the result of the step before it was known: rows and saves of sequences that have ended by
  // then are left out, and the result has nothing of them; so are rows for drafts that a slot turns out not
  // to hold, or has no block for. Without it the former break a rule, as do drafts without a block.
  bool ahead = false;
};

void visit_fields(Is<StepPlan> auto& value, auto&& visit) {
  [[maybe_unused]] auto& [release, admit, blocks, rows, replace, saves, drafts, warmup, ahead] = value;
  visit("release", value.release);
  visit("admit", value.admit);
  visit("blocks", value.blocks);
  visit("rows", value.rows);
  visit("replace", value.replace);
  visit("saves", value.saves);
  visit("drafts", value.drafts);
  visit("warmup", value.warmup);
  visit("ahead", value.ahead);
}

// The linear layers of attention and of a dense feed-forward, as checkpoints name them.
enum class Projection : uint8_t { kQProj, kKProj, kVProj, kOProj, kGateProj, kUpProj, kDownProj };

template <>
inline constexpr std::array<const char*, 7> kNames<Projection>{"q_proj",    "k_proj",  "v_proj",   "o_proj",
                                                               "gate_proj", "up_proj", "down_proj"};

enum class AdapterDtype : uint8_t { kF32, kBF16, kF16 };

template <>
inline constexpr std::array<const char*, 3> kNames<AdapterDtype>{"F32", "BF16", "F16"};

// What an adapter adds to a linear layer of (out, in): scale · B · A · x, with A (rank, in) and B (out,
// rank).
struct AdapterPair {
  int32_t layer = 0;
  Projection projection = Projection::kQProj;
  int32_t rank = 0;
  float scale = 0;
  AdapterDtype a_dtype = AdapterDtype::kF32;
  // Of A's data in the file.
  int64_t a_offset = 0;
  AdapterDtype b_dtype = AdapterDtype::kF32;
  int64_t b_offset = 0;
};

void visit_fields(Is<AdapterPair> auto& value, auto&& visit) {
  [[maybe_unused]] auto& [layer, projection, rank, scale, a_dtype, a_offset, b_dtype, b_offset] = value;
  visit("layer", value.layer);
  visit("projection", value.projection);
  visit("rank", value.rank);
  visit("scale", value.scale);
  visit("aDtype", value.a_dtype);
  visit("aOffset", value.a_offset);
  visit("bDtype", value.b_dtype);
  visit("bOffset", value.b_offset);
}

// Some of an adapter's pairs. The adapter is there once its last part is.
struct AdapterPart {
  // From 1 on, up to 256; of all parts the same.
  int32_t number = 0;
  // The file with the tensors: an absolute path.
  std::string file = {};
  std::vector<AdapterPair> pairs = {};
  bool last = false;
};

void visit_fields(Is<AdapterPart> auto& value, auto&& visit) {
  [[maybe_unused]] auto& [number, file, pairs, last] = value;
  visit("number", value.number);
  visit("file", value.file);
  visit("pairs", value.pairs);
  visit("last", value.last);
}

struct AwaitedReasoning {
  // What would end the whole, and may not come within.
  std::vector<int32_t> stops = {};
  // Null: the prompt begins it.
  std::optional<int32_t> begin = std::nullopt;
  int32_t end = 0;
};

void visit_fields(Is<AwaitedReasoning> auto& value, auto&& visit) {
  [[maybe_unused]] auto& [stops, begin, end] = value;
  visit("stops", value.stops);
  visit("begin", value.begin);
  visit("end", value.end);
}

// What one compilation may take.
struct CompileLimits {
  double cpu_seconds = 0;
  // Where others have the processors.
  double wall_seconds = 0;
  // Without any processor time.
  double stall_seconds = 0;
  // Beyond what the process has when it begins.
  int64_t memory_bytes = 0;
  int64_t result_bytes = 0;
};

void visit_fields(Is<CompileLimits> auto& value, auto&& visit) {
  [[maybe_unused]] auto& [cpu_seconds, wall_seconds, stall_seconds, memory_bytes, result_bytes] = value;
  visit("cpuSeconds", value.cpu_seconds);
  visit("wallSeconds", value.wall_seconds);
  visit("stallSeconds", value.stall_seconds);
  visit("memoryBytes", value.memory_bytes);
  visit("resultBytes", value.result_bytes);
}

// `json`: any JSON object, no text; `jsonSchema`; `regex`: of the whole answer; `ebnf`: rules from `root`, as
// XGrammar writes them; `format`: of XGrammar's structural tags; `toolCalls`: calls between marker tokens, as
// JSON (ToolCallsText).
enum class GrammarKind : uint8_t { kJson, kJsonSchema, kRegex, kEbnf, kFormat, kToolCalls };

template <>
inline constexpr std::array<const char*, 6> kNames<GrammarKind>{"json", "jsonSchema", "regex",
                                                                "ebnf", "format",     "toolCalls"};

// What becomes readable under a ticket until it is withdrawn: blocks whose tokens are all computed, and
// unchanged until then.
struct KvOffer {
  std::string ticket = {};
  std::vector<int32_t> blocks = {};
  std::optional<int32_t> snapshot = std::nullopt;
};

void visit_fields(Is<KvOffer> auto& value, auto&& visit) {
  [[maybe_unused]] auto& [ticket, blocks, snapshot] = value;
  visit("ticket", value.ticket);
  visit("blocks", value.blocks);
  visit("snapshot", value.snapshot);
}

// Blocks that no sequence has, and a snapshot's place, to be filled from another engine's offer.
struct KvFetch {
  // The caller's, of fetches that have not ended.
  int32_t id = 0;
  std::string host = {};
  // Where rank 0 of the other engine listens.
  int32_t port = 0;
  std::string ticket = {};
  std::vector<int32_t> blocks = {};
  std::optional<int32_t> snapshot = std::nullopt;
};

void visit_fields(Is<KvFetch> auto& value, auto&& visit) {
  [[maybe_unused]] auto& [id, host, port, ticket, blocks, snapshot] = value;
  visit("id", value.id);
  visit("host", value.host);
  visit("port", value.port);
  visit("ticket", value.ticket);
  visit("blocks", value.blocks);
  visit("snapshot", value.snapshot);
}

// `notFinite`: NaN or infinity; `collapsed`: all logits are equal; `stuck`: one token came out again and
// again, from logits equal to the last bit; `deadEnd`: the numbers are sound, and its constraint and rules
// allow no token; `slowConstraint`: its constraint took longer to compute what it allows than the other
// sequences of a step can wait.
enum class FaultKind : uint8_t { kNotFinite, kCollapsed, kStuck, kDeadEnd, kSlowConstraint };

template <>
inline constexpr std::array<const char*, 5> kNames<FaultKind>{"notFinite", "collapsed", "stuck", "deadEnd",
                                                              "slowConstraint"};

// `overTime`: of processor time, or of wall time in which it had more than half of that; `starved`: of wall
// time, in which it had less; `overMemory`: of the work or of its result; `crashed`: in the compiler, and
// would again; `lost`: by no fault of the grammar; `killed`: by `kill`.
enum class CompileEnd : uint8_t {
  kCompiled,
  kInvalid,
  kOverTime,
  kStarved,
  kOverMemory,
  kCrashed,
  kLost,
  kKilled
};

template <>
inline constexpr std::array<const char*, 8> kNames<CompileEnd>{"compiled",   "invalid", "overTime", "starved",
                                                               "overMemory", "crashed", "lost",     "killed"};

// `unreachable`: nobody answers there, or the connection broke; `unknownTicket`: no such offer, or not of so
// many blocks; `layoutDiffers`: bytes of a block do not mean the same there; `corrupt`: what came is not what
// was sent; `timedOut`: nothing came for too long.
enum class FetchFailure : uint8_t {
  kNone,
  kUnreachable,
  kUnknownTicket,
  kLayoutDiffers,
  kCorrupt,
  kTimedOut
};

template <>
inline constexpr std::array<const char*, 6> kNames<FetchFailure>{
    "none", "unreachable", "unknownTicket", "layoutDiffers", "corrupt", "timedOut"};

// How far a fetch is, on all ranks.
struct FetchState {
  // Its blocks are computed, or nothing that it filled may be used; either way it is forgotten.
  bool ended = false;
  FetchFailure failure = FetchFailure::kNone;
  // Why it failed; empty: it did not.
  std::string message = {};
  int64_t bytes = 0;
  // Tokens that the snapshot is the state of; null: without one.
  std::optional<int32_t> snapshot_at = std::nullopt;
};

void visit_fields(Is<FetchState> auto& value, auto&& visit) {
  [[maybe_unused]] auto& [ended, failure, message, bytes, snapshot_at] = value;
  visit("ended", value.ended);
  visit("failure", value.failure);
  visit("message", value.message);
  visit("bytes", value.bytes);
  visit("snapshotAt", value.snapshot_at);
}

struct EngineInfo;

void visit_fields(Is<EngineInfo> auto& value, auto&& visit) {
  [[maybe_unused]] auto& [architecture, isa, threads, vocab_size, weight_bytes, workspace_bytes, num_blocks,
                          kv_bytes_per_block, state_bytes_per_seq, draft_bytes_per_seq, hybrid, bidirectional,
                          collectives, self_check_ms, kv_layout] = value;
  visit("architecture", value.architecture);
  visit("isa", value.isa);
  visit("threads", value.threads);
  visit("vocabSize", value.vocab_size);
  visit("weightBytes", value.weight_bytes);
  visit("workspaceBytes", value.workspace_bytes);
  visit("numBlocks", value.num_blocks);
  visit("kvBytesPerBlock", value.kv_bytes_per_block);
  visit("stateBytesPerSeq", value.state_bytes_per_seq);
  visit("draftBytesPerSeq", value.draft_bytes_per_seq);
  visit("hybrid", value.hybrid);
  visit("bidirectional", value.bidirectional);
  visit("collectives", value.collectives);
  visit("selfCheckMs", value.self_check_ms);
  visit("kvLayout", value.kv_layout);
}

struct PromptLogprobs;

void visit_fields(Is<PromptLogprobs> auto& value, auto&& visit) {
  [[maybe_unused]] auto& [slots, positions, logprobs, ranks, top_offsets, top_tokens, top_logprobs] = value;
  visit("slots", value.slots);
  visit("positions", value.positions);
  visit("logprobs", value.logprobs);
  visit("ranks", value.ranks);
  visit("topOffsets", value.top_offsets);
  visit("topTokens", value.top_tokens);
  visit("topLogprobs", value.top_logprobs);
}

struct Embeddings;

void visit_fields(Is<Embeddings> auto& value, auto&& visit) {
  [[maybe_unused]] auto& [slots, values] = value;
  visit("slots", value.slots);
  visit("values", value.values);
}

struct GraphCounts;

void visit_fields(Is<GraphCounts> auto& value, auto&& visit) {
  [[maybe_unused]] auto& [captured, replayed, direct, refused, bytes] = value;
  visit("captured", value.captured);
  visit("replayed", value.replayed);
  visit("direct", value.direct);
  visit("refused", value.refused);
  visit("bytes", value.bytes);
}

struct StepResult;

void visit_fields(Is<StepResult> auto& value, auto&& visit) {
  [[maybe_unused]] auto& [slots, tokens, finish, logprobs, top_offsets, top_tokens, top_logprobs, drafts,
                          logit_hashes, prompt, embeddings, faults, rows, compute_micros, graphs] = value;
  visit("slots", value.slots);
  visit("tokens", value.tokens);
  visit("finish", value.finish);
  visit("logprobs", value.logprobs);
  visit("topOffsets", value.top_offsets);
  visit("topTokens", value.top_tokens);
  visit("topLogprobs", value.top_logprobs);
  visit("drafts", value.drafts);
  visit("logitHashes", value.logit_hashes);
  visit("prompt", value.prompt);
  visit("embeddings", value.embeddings);
  visit("faults", value.faults);
  visit("rows", value.rows);
  visit("computeMicros", value.compute_micros);
  visit("graphs", value.graphs);
}

struct CompileOutcome;

void visit_fields(Is<CompileOutcome> auto& value, auto&& visit) {
  [[maybe_unused]] auto& [end, message, bytes] = value;
  visit("end", value.end);
  visit("message", value.message);
  visit("bytes", value.bytes);
}

template <class T>
concept Fielded = requires(T& value) {
  visit_fields(value, [](const char*, auto&&) {});
};

template <class T>
concept Row = kIsRow<T>;

}  // namespace llmservice
