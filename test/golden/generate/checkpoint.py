"""Writes a fixture's checkpoint: config.json and one or several safetensors files with their index."""

import json
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor

import formats
import mxfp4
import packed
from experts import SINGLE, is_stack, single_shapes, stacked
from fixture import Fixture
from formats import dequantize, quantize
from weights import RESIDUAL_GAIN, TIED, glm_mtp_shapes, is_fp8, mtp_shapes, of_tower, random_weight, stored_dtype, unread_kv_shapes

SCALE = "_scale_inv"
ZERO_CENTRED = ("qwen3_5", "qwen3_next", "gemma")
# Norms of what a layer of Gemma adds to the residual stream, where embeddings come in that much larger.
LAYER_RESULTS = ("post_attention_layernorm.weight", "post_feedforward_layernorm.weight", "post_per_layer_input_norm.weight")


def make_tensors(fixture: Fixture, shapes: dict[str, torch.Size]) -> dict[str, Tensor]:
    """What the checkpoint holds, experts one by one. shapes come from the reference implementation's state dict."""
    config = fixture.config
    if fixture.mtp:
        drafts = glm_mtp_shapes if config["model_type"] == "glm4_moe" else mtp_shapes
        shapes = shapes | drafts(config.get("text_config", config))
    shapes = shapes | unread_kv_shapes(config, shapes)
    draw = torch.Generator().manual_seed(fixture.seed)
    tensors: dict[str, Tensor] = {}
    transposed = config["model_type"] == "gpt_oss"  # experts have no other layout than the reference's
    for name, shape in (shapes if transposed else single_shapes(shapes)).items():
        if name in TIED and config["tie_word_embeddings"]:
            continue
        zero_centred = config["model_type"].startswith(ZERO_CENTRED) and not of_tower(name)
        zero_centred &= not config["model_type"].startswith("gemma4")
        weight = random_weight(name, shape, draw, zero_centred)
        if config["model_type"].startswith("gemma") and name.endswith(LAYER_RESULTS):
            weight += RESIDUAL_GAIN * len(weight) ** 0.5 - 1
        if config["model_type"].startswith("gemma4") and name.endswith(("q_norm.weight", "k_norm.weight")):
            weight *= len(weight) ** -0.25  # nothing else scales the scores of attention
        if fixture.form == "mxfp4" and is_stack(name):
            tensors |= mxfp4.store(name, weight)
            mxfp4.check(weight, mxfp4.values(tensors)[name])
        elif fixture.fp8 and fixture.stacked_experts and SINGLE.fullmatch(name):
            tensors[name] = weight  # quantized once it is stacked
        elif fixture.fp8 and is_fp8(name, shape):
            tensors[name], tensors[name + SCALE] = quantize(weight, getattr(torch, fixture.scale_dtype))
        elif fixture.form == "f16" or (fixture.form not in ("", "mxfp4") and is_quantized(fixture.form, name, shape)):
            stored = formats.store(fixture.form, name, weight)
            formats.check(fixture.form, {name: weight}, formats.values(stored, fixture.form))
            tensors |= stored
        else:
            tensors[name] = weight.to(stored_dtype(name))
    if fixture.fp8 and fixture.stacked_experts:
        return quantize_stacks(stacked(tensors), getattr(torch, fixture.scale_dtype))
    return tensors


def is_quantized(form: str, name: str, shape: torch.Size) -> bool:
    return is_fp8(name, shape) or (form == formats.MIXED and name == "lm_head.weight")


def quantize_stacks(tensors: dict[str, Tensor], scale_dtype: torch.dtype) -> dict[str, Tensor]:
    """Blocks are those of each expert's matrix, so that gate and up may meet in one."""
    out: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        if is_stack(name):
            codes, scales = zip(*(quantize(matrix, scale_dtype) for matrix in tensor))
            out[name], out[name + SCALE] = torch.stack(codes), torch.stack(scales)
        else:
            out[name] = tensor
    return out


def reference_values(fixture: Fixture, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """The same model in fp32, quantized matrices multiplied out: what the reference runs on."""
    if fixture.form == "mxfp4":
        return mxfp4.values(tensors)
    if fixture.form:
        return stacked(formats.values(tensors, fixture.form))
    values = {}
    for name, tensor in tensors.items():
        if is_stack(name) and name + SCALE in tensors:
            values[name] = torch.stack([dequantize(*pair) for pair in zip(tensor, tensors[name + SCALE])])
        elif name + SCALE in tensors:
            values[name] = dequantize(tensor, tensors[name + SCALE])
        elif not name.endswith(SCALE):
            values[name] = tensor.float()
    return stacked(values)


def full_config(fixture: Fixture, tensors: dict[str, Tensor]) -> dict:
    config = {**fixture.config, "dtype": "float16" if fixture.form == "f16" else "bfloat16"}
    if fixture.fp8:
        kept = {n.removesuffix(".weight") for n, t in tensors.items() if t.ndim == 2 and t.dtype == torch.bfloat16}
        config["quantization_config"] = {
            "quant_method": "fp8",
            "fmt": "e4m3",
            "activation_scheme": "dynamic",
            "weight_block_size": [128, 128],
            "modules_to_not_convert": sorted(n for n in kept if not n.endswith(SCALE)),
        }
    elif declared := formats.quantization_config(fixture.form, unquantized(fixture.config, tensors), tensors):
        config["quantization_config"] = declared
    return config


def unquantized(config: dict, tensors: dict[str, Tensor]) -> list[str]:
    """Releases of Mixtral list their routers too."""
    kept = ["lm_head", "model.embed_tokens"]
    return kept + [n.removesuffix(".weight") for n in tensors if config["model_type"] == "mixtral" and n.endswith(".gate.weight")]


# As releases name what the reference has another name for.
WITH_TOWER = {
    "model.language_model.": "language_model.model.",
    "model.vision_tower.": "vision_tower.",
    "model.multi_modal_projector.": "multi_modal_projector.",
}
RELEASED = {
    "mixtral": {".mlp.": ".block_sparse_moe.", ".gate_proj.": ".w1.", ".down_proj.": ".w2.", ".up_proj.": ".w3."},
    "gemma3": WITH_TOWER,
    "mistral3": {**WITH_TOWER, "lm_head.": "language_model.lm_head."},
}


def released(config: dict, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    def renamed(name: str) -> str:
        for own, other in RELEASED.get(config["model_type"], {}).items():
            name = name.replace(own, other)
        return name

    return {renamed(name): tensor for name, tensor in tensors.items()}


def write_checkpoint(fixture: Fixture, tensors: dict[str, Tensor], folder: Path) -> None:
    if fixture.stacked_experts:
        tensors = stacked(tensors)
    tensors = released(fixture.config, tensors)
    folder.mkdir(parents=True, exist_ok=True)
    for old in [*folder.glob("*.safetensors"), *folder.glob("*.index.json")]:
        old.unlink()
    (folder / "config.json").write_text(json.dumps(full_config(fixture, tensors), indent=2) + "\n")
    if fixture.shards == 1:
        save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
        return
    place = {name: shard_of(name, i, fixture) for i, name in enumerate(tensors)}
    files = {s: f"model-{s + 1:05}-of-{fixture.shards:05}.safetensors" for s in range(fixture.shards)}
    for shard, file in files.items():
        save_file({n: t for n, t in tensors.items() if place[n] == shard}, folder / file, metadata={"format": "pt"})
    index = {
        "metadata": {"total_size": sum(t.numel() * t.element_size() for t in tensors.values())},
        "weight_map": {name: files[place[name]] for name in sorted(tensors)},
    }
    (folder / "model.safetensors.index.json").write_text(json.dumps(index, indent=1) + "\n")


def shard_of(name: str, position: int, fixture: Fixture) -> int:
    """Round robin; a scattered scale goes to the last shard, all other tensors to the ones before."""
    if not fixture.scatter_scales:
        return position % fixture.shards
    return fixture.shards - 1 if name.endswith(SCALE) else position % (fixture.shards - 1)
