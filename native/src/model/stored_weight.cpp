// Finding and checking the tensors of one matrix.
#include "model/stored_weight.h"

#include <algorithm>
#include <array>

namespace llmservice {
namespace {

using Shape = std::vector<int64_t>;

bool is_one(const Shape& shape) { return shape.empty() || shape == Shape{1}; }

[[noreturn]] void refuse(FailureReason reason, const Tensor& tensor, const std::string& what) {
  throw EngineError(reason, tensor.file->name() + ": " + tensor.name + " " + what);
}

// The tensors of one matrix by what their names end with: its own for a matrix by itself, slices along the
// first axis for one of a stack.
class MatrixTensors {
 public:
  MatrixTensors(const Checkpoint& checkpoint, const std::string& module, std::optional<StackPlace> stack)
      : checkpoint_(checkpoint), base_(stack ? module : module + ".weight"), stack_(stack) {}

  std::string name(const char* suffix) const { return base_ + suffix; }
  bool has(const char* suffix) const { return checkpoint_.has(name(suffix)); }

  Tensor get(const char* suffix) const {
    Tensor tensor = checkpoint_.tensor(name(suffix));
    if (!stack_) return tensor;
    if (tensor.shape.empty() || stack_->count < 1 || tensor.shape.front() != stack_->count) {
      const bool is_scale = *suffix != '\0';
      refuse(is_scale ? FailureReason::kUnsupportedQuantization : FailureReason::kCheckpointCorrupt, tensor,
             "has shape " + to_text(tensor.shape) + "; a stack of " + std::to_string(stack_->count) +
                 " matrices begins with that number.");
    }
    tensor.bytes /= stack_->count;
    tensor.offset += tensor.bytes * stack_->index;
    tensor.shape.erase(tensor.shape.begin());
    return tensor;
  }

 private:
  const Checkpoint& checkpoint_;
  std::string base_;
  std::optional<StackPlace> stack_;
};

// The scale of an FP8 matrix: tools differ in its name.
Tensor fp8_scale(const MatrixTensors& tensors, const Tensor& weight) {
  for (const char* suffix : {"_scale_inv", "_scale"}) {
    if (tensors.has(suffix)) return tensors.get(suffix);
  }
  const std::string inverse = tensors.name("_scale_inv");
  const std::string plain = tensors.name("_scale");
  refuse(FailureReason::kCheckpointIncomplete, weight,
         "is FP8 but there is no tensor " + inverse + " nor " + plain + ".");
}

void check_float(const Tensor& scale) {
  if (!is_quantized(scale.dtype)) return;
  refuse(FailureReason::kUnsupportedQuantization, scale,
         std::string("has type ") + name_of(scale.dtype) + "; scales of this kind are F32, BF16 or F16.");
}

void read_fp8(const MatrixTensors& tensors, StoredWeight& stored) {
  stored.scale = fp8_scale(tensors, stored.weight);
  check_float(*stored.scale);
  const Shape by_row = {stored.rows, 1};
  const Shape by_block = {blocks_of(stored.rows), blocks_of(stored.cols)};
  const Shape& found = stored.scale->shape;
  if (found == by_block) return;
  if (!is_one(found) && found != by_row) {
    refuse(FailureReason::kUnsupportedQuantization, *stored.scale,
           "has shape " + to_text(found) + "; a matrix of shape " + to_text(stored.weight.shape) +
               " takes one scale ([] or [1]), one per row (" + to_text(by_row) +
               ") or one per 128x128 block (" + to_text(by_block) + ").");
  }
  stored.scaling = Scaling::kRow;
}

void expect_shape(const Tensor& tensor, const Shape& shape, const Tensor& weight) {
  if (tensor.shape == shape) return;
  refuse(FailureReason::kUnsupportedQuantization, tensor,
         "has shape " + to_text(tensor.shape) + " where " + weight.name + " of shape " +
             to_text(weight.shape) + " takes " + to_text(shape) + ".");
}

// Signed bytes, as compressed-tensors stores them.
void read_int8(const MatrixTensors& tensors, StoredWeight& stored) {
  if (!tensors.has("_scale")) {
    refuse(FailureReason::kUnsupportedQuantization, stored.weight,
           "has type I8, which is read with a scale per row, but there is no tensor " +
               tensors.name("_scale") + ".");
  }
  stored.scale = tensors.get("_scale");
  check_float(*stored.scale);
  expect_shape(*stored.scale, {stored.rows, 1}, stored.weight);
  stored.scaling = Scaling::kRow;
}

void read_nvfp4(const MatrixTensors& tensors, StoredWeight& stored) {
  stored.divides = stored.weight.name.ends_with("_packed");
  const char* const global = stored.divides ? "_global_scale" : "_scale_2";
  for (const char* suffix : {"_scale", global}) {
    if (tensors.has(suffix)) continue;
    refuse(FailureReason::kUnsupportedQuantization, stored.weight,
           "has type U8, which is read as NVFP4 only, but there is no tensor " + tensors.name(suffix) + ".");
  }
  stored.cols = 2 * stored.weight.shape[1];
  stored.scale = tensors.get("_scale");
  stored.global_scale = tensors.get(global);
  if (stored.scale->dtype != DType::kF8E4M3) {
    refuse(
        FailureReason::kUnsupportedQuantization, *stored.scale,
        std::string("has type ") + name_of(stored.scale->dtype) + "; the group scales of NVFP4 are F8_E4M3.");
  }
  check_float(*stored.global_scale);
  if (stored.cols % kGroupColumns != 0) {
    refuse(FailureReason::kCheckpointCorrupt, stored.weight,
           "has " + std::to_string(stored.cols) + " columns, which NVFP4's groups of 16 do not divide.");
  }
  expect_shape(*stored.scale, {stored.rows, stored.cols / kGroupColumns}, stored.weight);
  if (!is_one(stored.global_scale->shape)) expect_shape(*stored.global_scale, {1}, stored.weight);
  stored.scaling = Scaling::kRow;
}

// A scale with an unquantized matrix: one of the two was replaced without the other.
void refuse_stray_scale(const MatrixTensors& tensors, const Tensor& weight) {
  for (const char* suffix : {"_scale_inv", "_scale", "_scale_2", "_global_scale"}) {
    if (!tensors.has(suffix)) continue;
    refuse(FailureReason::kCheckpointCorrupt, weight,
           std::string("is ") + name_of(weight.dtype) + " but has a scale, " + tensors.name(suffix) +
               ", as if it were quantized.");
  }
}

bool is_stack_of_experts(const std::string& name) {
  return name.ends_with(".experts.gate_up_proj") || name.ends_with(".experts.down_proj");
}

// Tensors that releases hold and this engine does not read, or, as those of drafts, only when it is asked to.
bool is_skipped(const std::string& name) {
  constexpr std::array kPrefixes = {"model.visual.",
                                    "visual.",
                                    "model.vision_tower.",
                                    "vision_tower.",
                                    "model.multi_modal_projector.",
                                    "multi_modal_projector.",
                                    "model.audio_tower.",
                                    "audio_tower.",
                                    "model.embed_vision.",
                                    "embed_vision.",
                                    "model.embed_audio.",
                                    "embed_audio.",
                                    "mtp."};
  return std::any_of(kPrefixes.begin(), kPrefixes.end(), [&](const char* p) { return name.starts_with(p); });
}

}  // namespace

StoredWeight stored_weight(const Checkpoint& checkpoint, const std::string& module,
                           std::optional<StackPlace> stack) {
  const MatrixTensors tensors(checkpoint, module, stack);
  StoredWeight stored{.weight = tensors.get(tensors.has("_packed") ? "_packed" : ""),
                      .rows = 0,
                      .cols = 0,
                      .scale = {},
                      .global_scale = {}};
  const Tensor& weight = stored.weight;
  if (weight.shape.size() != 2) {
    refuse(FailureReason::kCheckpointCorrupt, weight,
           "has shape " + to_text(weight.shape) + "; a matrix has two dimensions.");
  }
  stored.rows = weight.shape[0];
  stored.cols = weight.shape[1];
  if (weight.dtype == DType::kF8E4M3) {
    read_fp8(tensors, stored);
  } else if (weight.dtype == DType::kF4E2M1 && stack && !weight.derived) {
    refuse(FailureReason::kUnsupportedQuantization, weight,
           "stacks experts in NVFP4: tools differ in the order of its axes and in its scales, and none of "
           "them says which. Use a release with experts one by one (experts.N.gate_proj, ...).");
  } else if (weight.dtype == DType::kF4E2M1) {
    read_nvfp4(tensors, stored);
  } else if (weight.dtype == DType::kI8) {
    read_int8(tensors, stored);
  } else {
    refuse_stray_scale(tensors, weight);
  }
  return stored;
}

void check_stored_weights(const Checkpoint& checkpoint) {
  for (const std::string& name : checkpoint.names()) {
    if (is_skipped(name)) continue;
    if (is_stack_of_experts(name) && checkpoint.rank(name) == 3) {
      stored_weight(checkpoint, name, StackPlace{0, checkpoint.tensor(name).shape.front()});
      continue;
    }
    const bool packed = name.ends_with(".weight_packed");
    if (!packed && !name.ends_with(".weight")) continue;
    // Norms and convolutions have other ranks, and are not quantized.
    if (!packed && checkpoint.rank(name) != 2) continue;
    stored_weight(checkpoint, name.substr(0, name.rfind('.')));
  }
}

}  // namespace llmservice
