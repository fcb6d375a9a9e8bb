"""GGUF fixtures: the models of gguf_fixtures.py written by gguf-py, and what its dequantization makes of them.

The converter's changes to tensors are made here again, from their description in conversion/llama.py and conversion/qwen.py
of llama.cpp: rows of llama's q and k reordered, 1 added to zero-centred norms, the decay as -exp(A_log), value heads in
rounds over the key heads, experts stacked. The reference runs on the values that gguf-py reads back from the file, with
these changes undone, so that quantization is no part of the comparison.
"""

from pathlib import Path

import gguf
import numpy as np
import torch
from gguf import GGMLQuantizationType as Type
from torch import Tensor

from gguf_blocks import to_stored
from gguf_fixtures import FIXTURES, UNSCALED
from gguf_gemma4 import gemma4_metadata, proportional_divisors
from gguf_names import ARCHITECTURES, SINGLE, head_dim, stored_name


class Changes:
    """What the converter does to the values of a tensor, and its inverse."""

    def __init__(self, config: dict):
        self.config = config
        self.zero_centred = config["model_type"].startswith(("qwen3_5", "qwen3_next", "gemma2", "gemma3"))
        # Value heads lie in rounds over the key heads.
        self.in_rounds = config["model_type"].startswith("qwen3_5")

    def apply(self, name: str, value: np.ndarray) -> np.ndarray:
        if name.endswith("A_log"):
            return -np.exp(self.rounds(value, 1) if self.in_rounds else value)
        if name.endswith(".experts.down_proj"):
            return value.swapaxes(1, 2)
        if self.zero_centred and name.endswith("norm.weight") and "linear_attn" not in name:
            return value + 1
        return self.reorder(name, value, self.rounds, self.neighbours)

    def undo(self, name: str, value: np.ndarray) -> np.ndarray:
        if name.endswith("A_log"):
            return np.log(-(self.by_key_head(value, 1) if self.in_rounds else value))
        if name.endswith(".experts.down_proj"):
            return value.swapaxes(1, 2)
        if self.zero_centred and name.endswith("norm.weight") and "linear_attn" not in name:
            return value - 1
        return self.reorder(name, value, self.by_key_head, self.halves)

    def reorder(self, name, value, v_heads, rotation):
        c = self.config
        if ARCHITECTURES[c["model_type"]] == "llama" and name.endswith(("q_proj.weight", "k_proj.weight")):
            return rotation(value, head_dim(c))
        if "linear_attn" not in name or not self.in_rounds:
            return value
        v_dim, qk = c["linear_value_head_dim"], 2 * c["linear_num_key_heads"] * c["linear_key_head_dim"]
        if name.endswith(("in_proj_qkv.weight", "conv1d.weight")):
            return np.concatenate([value[:qk], v_heads(value[qk:], v_dim)])
        if name.endswith("in_proj_z.weight"):
            return v_heads(value, v_dim)
        if name.endswith(("in_proj_a.weight", "in_proj_b.weight", "dt_bias")):
            return v_heads(value, 1)
        if name.endswith("out_proj.weight"):
            return np.ascontiguousarray(v_heads(np.ascontiguousarray(value.T), v_dim).T)
        return value

    def rounds(self, rows: np.ndarray, dim: int) -> np.ndarray:
        """Rows of value heads, from key head after key head to round after round."""
        k = self.config["linear_num_key_heads"]
        return swapped(rows, k, self.config["linear_num_value_heads"] // k, dim)

    def by_key_head(self, rows: np.ndarray, dim: int) -> np.ndarray:
        k = self.config["linear_num_key_heads"]
        return swapped(rows, self.config["linear_num_value_heads"] // k, k, dim)

    @staticmethod
    def neighbours(rows: np.ndarray, dim: int) -> np.ndarray:
        """Features that rotate together, from half a head apart to side by side."""
        return np.concatenate([swapped(head, 2, dim // 2, 1) for head in rows.reshape(-1, dim, rows.shape[1])])

    @staticmethod
    def halves(rows: np.ndarray, dim: int) -> np.ndarray:
        return np.concatenate([swapped(head, dim // 2, 2, 1) for head in rows.reshape(-1, dim, rows.shape[1])])


def swapped(rows: np.ndarray, outer: int, inner: int, dim: int) -> np.ndarray:
    return rows.reshape(outer, inner, dim, *rows.shape[1:]).swapaxes(0, 1).reshape(rows.shape)


def stored_type(stored: str, shape: tuple[int, ...], main: str, others: dict[str, str]) -> Type:
    """Norms, decays, convolutions and routers stay in F32, as in everybody's files."""
    part = stored.removesuffix(".weight").rpartition(".")[2]
    kept = ("ssm_conv1d", "ssm_alpha", "ssm_beta", "ffn_gate_inp", "ffn_gate_inp_shexp")
    if len(shape) == 1 or part in kept or stored.endswith(".bias"):
        return Type.F32
    return Type[others.get(part, main)]


def add_in_turn(name: str, value: np.ndarray, config: dict, add) -> np.ndarray:
    """gpt-oss: rows of gate and up alternate in the release, and are two stacks of (E, rows, columns) in the file."""
    by_columns = not name.endswith("bias")
    rows = value.swapaxes(1, 2) if by_columns else value
    gate = stored_name(name, config)
    stored = (gate, gate.replace("ffn_gate_exps", "ffn_up_exps"))
    seen = [add(part, np.ascontiguousarray(rows[:, first::2])) for first, part in enumerate(stored)]
    joined = np.stack(seen, 2).reshape(rows.shape)
    return np.ascontiguousarray(joined.swapaxes(1, 2) if by_columns else joined, np.float32)


def add_apart(name: str, value: np.ndarray, config: dict, add) -> np.ndarray:
    """Of Qwen3-Next: rows of [q | k | values | z] by key head become all q, k and values in one matrix, and all z in another."""
    heads, dim = config["linear_num_key_heads"], config["linear_key_head_dim"]
    width = config["linear_num_value_heads"] // heads * config["linear_value_head_dim"]
    by_head = np.split(value.reshape(heads, -1, value.shape[1]), np.cumsum([dim, dim, width]), axis=1)
    stored = stored_name(name, config)
    qkv = add(stored, np.concatenate([part.reshape(-1, value.shape[1]) for part in by_head[:3]]))
    z = add(stored.replace("attn_qkv", "attn_gate"), np.ascontiguousarray(by_head[3].reshape(-1, value.shape[1])))
    parts = [*np.split(qkv, [heads * dim, 2 * heads * dim]), z]
    return np.concatenate([part.reshape(heads, -1, value.shape[1]) for part in parts], axis=1).reshape(value.shape).astype(np.float32)


def metadata(writer: gguf.GGUFWriter, config: dict) -> None:
    if config["model_type"] == "gemma4_text":
        gemma4_metadata(writer, config)
        return
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_head_count_kv(config["num_key_value_heads"])
    # Of Qwen2 no key says how wide a head is.
    says_width = config["model_type"] != "qwen2"
    if says_width:
        writer.add_key_length(head_dim(config))
        writer.add_value_length(head_dim(config))
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    rope = config.get("rope_parameters", config)
    writer.add_rope_freq_base(rope["rope_theta"])
    if says_width:
        writer.add_rope_dimension_count(int(head_dim(config) * rope.get("partial_rotary_factor", 1)))
    if "intermediate_size" in config:
        writer.add_feed_forward_length(config["intermediate_size"])
    if "num_local_experts" in config:
        writer.add_expert_count(config["num_local_experts"])
        writer.add_expert_used_count(config["num_experts_per_tok"])
    if config["model_type"].startswith("gemma"):
        writer.add_sliding_window(config["sliding_window"])
        if config["attn_logit_softcapping"]:
            writer.add_attn_logit_softcapping(config["attn_logit_softcapping"])
        if config["final_logit_softcapping"]:
            writer.add_final_logit_softcapping(config["final_logit_softcapping"])
        if config.get("rope_scaling"):
            writer.add_rope_scaling_type(gguf.RopeScalingType.LINEAR)
            writer.add_rope_scaling_factor(config["rope_scaling"]["factor"])
    if config["model_type"] == "gpt_oss":
        writer.add_expert_feed_forward_length(config["intermediate_size"])
        writer.add_sliding_window(config["sliding_window"])
        writer.add_rope_scaling_type(gguf.RopeScalingType.YARN)
        writer.add_rope_scaling_factor(config["rope_scaling"]["factor"])
        writer.add_rope_scaling_orig_ctx_len(config["rope_scaling"]["original_max_position_embeddings"])
    if "num_experts" in config:
        writer.add_expert_count(config["num_experts"])
        writer.add_expert_used_count(config["num_experts_per_tok"])
        writer.add_expert_feed_forward_length(config["moe_intermediate_size"])
    if "shared_expert_intermediate_size" in config:
        writer.add_expert_shared_feed_forward_length(config["shared_expert_intermediate_size"])
    if "n_routed_experts" in config:
        writer.add_expert_count(config["n_routed_experts"])
        writer.add_expert_used_count(config["num_experts_per_tok"])
        writer.add_expert_feed_forward_length(config["moe_intermediate_size"])
        writer.add_expert_shared_count(config["n_shared_experts"])
        writer.add_leading_dense_block_count(config["first_k_dense_replace"])
        writer.add_expert_gating_func(gguf.ExpertGatingFuncType.SIGMOID)
        writer.add_expert_weights_norm(config["norm_topk_prob"])
        writer.add_expert_weights_scale(config["routed_scaling_factor"])
    if "linear_num_key_heads" in config:
        writer.add_ssm_conv_kernel(config["linear_conv_kernel_dim"])
        writer.add_ssm_state_size(config["linear_key_head_dim"])
        writer.add_ssm_group_count(config["linear_num_key_heads"])
        writer.add_ssm_time_step_rank(config["linear_num_value_heads"])
        writer.add_ssm_inner_size(config["linear_num_value_heads"] * config["linear_value_head_dim"])
        writer.add_full_attention_interval(config["full_attention_interval"])
        if "mrope_section" in rope:
            writer.add_rope_dimension_sections([*rope["mrope_section"], 0])


def llama3_divisors(config: dict) -> np.ndarray | None:
    """What each frequency is divided by (Llama 3.1): its wavelength decides."""
    rope = config.get("rope_parameters", {})
    if rope.get("rope_type") != "llama3":
        return None
    dim, context = config["head_dim"], rope["original_max_position_embeddings"]
    wavelength = 2 * np.pi * rope["rope_theta"] ** (np.arange(0, dim, 2) / dim)
    low, high, factor = rope["low_freq_factor"], rope["high_freq_factor"], rope["factor"]
    blend = np.clip((context / wavelength - low) / (high - low), 0, 1)
    return (1 / ((1 - blend) / factor + blend)).astype(np.float32)


def grouped_experts(tensors: dict[str, Tensor]) -> dict[str, tuple[list[str], np.ndarray]]:
    """Stored name of an expert stack -> the single experts' names, and all their values."""
    stacks: dict[str, list[str]] = {}
    for name in tensors:
        if SINGLE.search(name):
            layer, projection = name.split(".")[2], name.split(".")[-2].removesuffix("_proj")
            stacks.setdefault(f"blk.{layer}.ffn_{projection}_exps.weight", []).append(name)
    return {stored: (names, np.stack([tensors[n].float().numpy() for n in names])) for stored, names in stacks.items()}


def add_experts(tensors: dict[str, Tensor], config: dict, add) -> dict[str, np.ndarray]:
    """What a reader sees of single experts. Gemma 4's have gate over up in one stack."""
    stacks, read = grouped_experts(tensors), {}
    for stored, (names, stack) in stacks.items():
        if config["model_type"] == "gemma4_text" and "_up_exps" in stored:
            continue
        if config["model_type"] == "gemma4_text" and "_gate_exps" in stored:
            others, ups = stacks[stored.replace("gate", "up")]
            seen = add(stored.replace("gate", "gate_up"), np.concatenate([stack, ups], axis=1))
            gates, ups = np.split(seen, 2, axis=1)
            read |= dict(zip(names, gates, strict=True)) | dict(zip(others, ups, strict=True))
        else:
            read |= dict(zip(names, add(stored, stack), strict=True))
    return read


def stored_types(name: str, tensors: dict[str, Tensor]) -> dict[str, str]:
    """The name of the type that each tensor, a single expert too, is stored in."""
    fixture, main, others = FIXTURES[name]
    of_expert = {n: stored for stored, (names, _) in grouped_experts(tensors).items() for n in names}
    return {
        n: stored_type(of_expert.get(n) or stored_name(n, fixture.config), tuple(t.squeeze().shape), main, others).name
        for n, t in tensors.items()
    }


def write(name: str, tensors: dict[str, Tensor], folder: Path, add_tokenizer=None) -> dict[str, Tensor]:
    """Writes folder/model.gguf. Returns the values that a reader must see, by the names of the reference."""
    fixture, main, others = FIXTURES[name]
    config = fixture.config
    changes, draw = Changes(config), np.random.default_rng(fixture.seed)
    folder.mkdir(parents=True, exist_ok=True)
    writer = gguf.GGUFWriter(folder / "model.gguf", ARCHITECTURES[config["model_type"]])
    writer.add_name(name)
    metadata(writer, config)
    if add_tokenizer is not None:
        add_tokenizer(writer)
    read: dict[str, Tensor] = {}

    def add(stored: str, value: np.ndarray) -> np.ndarray:
        kind = stored_type(stored, value.shape, main, others)
        if kind != Type.NVFP4 or stored.endswith(UNSCALED):
            data = to_stored(kind, value, draw)
            writer.add_tensor(stored, data, raw_dtype=kind)
            return gguf.dequantize(data, kind).reshape(value.shape)
        # One for each matrix, beside those of activations, which nobody reads.
        scales = (0.004 + 0.004 * draw.random(value.shape[:-2] or 1)).astype(np.float32)
        of_values = scales.reshape(-1, *(1,) * (value.ndim - 1)) if value.ndim == 3 else scales
        data = to_stored(kind, value / of_values, draw)
        writer.add_tensor(stored, data, raw_dtype=kind)
        for suffix in ("scale", "input_scale"):
            writer.add_tensor(stored.removesuffix("weight") + suffix, scales)
        return gguf.dequantize(data, kind).reshape(value.shape) * of_values

    for one, value in add_experts(tensors, config, add).items():
        read[one] = torch.from_numpy(value.copy())
    for hf_name, tensor in tensors.items():
        if SINGLE.search(hf_name):
            continue
        if ".experts.gate_up_proj" in hf_name:
            read[hf_name] = torch.from_numpy(add_in_turn(hf_name, tensor.float().numpy(), config, add))
            continue
        if "in_proj_qkvz" in hf_name:
            read[hf_name] = torch.from_numpy(add_apart(hf_name, tensor.float().numpy(), config, add))
            continue
        value = changes.apply(hf_name, tensor.float().numpy())
        stored = stored_name(hf_name, config)
        flat = value.squeeze() if "conv1d" in hf_name or "shared_expert_gate" in hf_name else value
        seen = add(stored, np.ascontiguousarray(flat)).reshape(value.shape)
        read[hf_name] = torch.from_numpy(np.ascontiguousarray(changes.undo(hf_name, seen), np.float32))
    if (divisors := proportional_divisors(config) if "global_head_dim" in config else llama3_divisors(config)) is not None:
        writer.add_tensor("rope_freqs.weight", divisors)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return read
