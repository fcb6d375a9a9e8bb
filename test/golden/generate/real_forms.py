"""Converts a GGUF file of a trained model into another format: real_forms.py MODEL.gguf FORM FOLDER

Numpy and gguf-py alone, and nothing of the engine. What is converted are the values that gguf-py dequantizes. Forms: `bf16`, `fp8`
(e4m3, blocks of 128x128, BF16 scales) and `int8` (compressed-tensors, one scale per output) as safetensors of `llama`; `q8_0` and
`q4_k` as GGUF with the metadata of the source. As llama.cpp does, `q4_k` takes Q5_0 where rows are no multiple of 256. gguf-py has
no quantizer for Q4_K: here is one by the smallest and largest of 32 columns. Embeddings of GGUF forms and norms stay as they are.
"""

import json
import sys
from pathlib import Path

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Type

BLOCK, E4M3_MAX = 128, np.float32(448)
NAMES = {
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
OUTER = {"token_embd.weight": "model.embed_tokens.weight", "output_norm.weight": "model.norm.weight"}
INT8 = {"num_bits": 8, "type": "int", "strategy": "channel", "symmetric": True, "dynamic": False}
# Magnitudes of the codes 0 to 126, in order.
E4M3 = np.array(
    [(c & 7) / 8 * 2.0**-6 if c < 8 else 2.0 ** ((c >> 3) - 7) * (1 + (c & 7) / 8) for c in range(127)], np.float32
)


def bf16(values: np.ndarray) -> np.ndarray:
    """Bits of the nearest bfloat16, of two as near the even one."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def of_bf16(bits: np.ndarray) -> np.ndarray:
    return (bits.astype(np.uint32) << 16).view(np.float32)


def e4m3(values: np.ndarray) -> np.ndarray:
    """Codes of the nearest numbers, of two as near the even one."""
    exact = np.abs(values)
    above = np.searchsorted(E4M3, exact).clip(1, 126)
    down, up = exact - E4M3[above - 1], E4M3[above] - exact
    codes = np.where((down < up) | ((down == up) & (above % 2 == 1)), above - 1, above)
    return (codes | (values < 0) << 7).astype(np.uint8)


def fp8(weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Codes (R, C), and the bits of the scales (ceil(R/128), ceil(C/128)) in BF16."""
    rows, columns = weight.shape
    padded = np.pad(np.abs(weight), ((0, -rows % BLOCK), (0, -columns % BLOCK)))
    largest = padded.reshape(padded.shape[0] // BLOCK, BLOCK, -1, BLOCK).max((1, 3))
    scale = bf16(np.maximum(largest / E4M3_MAX, np.float32(1e-12)))
    spread = of_bf16(scale).repeat(BLOCK, 0)[:rows].repeat(BLOCK, 1)[:, :columns]
    return e4m3((weight / spread).clip(-E4M3_MAX, E4M3_MAX)), scale


def int8(weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    scale = bf16(np.maximum(np.abs(weight).max(1, keepdims=True) / 127, np.float32(1e-12)))
    return (weight / of_bf16(scale)).round().clip(-128, 127).astype(np.int8), scale


def q4_k(weight: np.ndarray) -> np.ndarray:
    """Blocks of 256 columns: eight times 32, each with a scale and a minimum of six bits under two of float16."""
    parts = weight.reshape(-1, 8, 32)
    low, high = np.minimum(parts.min(2), 0), parts.max(2)
    d, dmin = (x.max(1, keepdims=True).astype(np.float16) for x in ((high - low) / 15 / 63, -low / 63))
    wide, minimum = d.astype(np.float32), dmin.astype(np.float32)
    scales, minima = (
        np.divide(x, y, out=np.zeros_like(x), where=y > 0).round().clip(0, 63).astype(np.uint8)
        for x, y in (((high - low) / 15, wide), (-low, minimum))
    )
    step, offset = (wide * scales)[:, :, None], (minimum * minima)[:, :, None]
    codes = np.divide(parts + offset, step, out=np.zeros_like(parts), where=step > 0).round().clip(0, 15).astype(np.uint8)
    # The first four scales and minima have bytes of their own; the upper bits of these bytes belong to the last four.
    packed = np.concatenate(
        [
            scales[:, :4] | scales[:, 4:] >> 4 << 6,
            minima[:, :4] | minima[:, 4:] >> 4 << 6,
            scales[:, 4:] & 15 | (minima[:, 4:] & 15) << 4,
        ],
        axis=1,
    )
    nibbles = (codes[:, 0::2] | codes[:, 1::2] << 4).reshape(-1, 128)
    blocks = np.concatenate([d.view(np.uint8), dmin.view(np.uint8), packed, nibbles], axis=1)
    return blocks.reshape(weight.shape[0], -1)


def by_halves(weight: np.ndarray, heads: int) -> np.ndarray:
    """Rows of q and k: features that rotate together lie side by side in GGUF, half a head apart in safetensors."""
    return weight.reshape(heads, -1, 2, weight.shape[1]).swapaxes(1, 2).reshape(weight.shape)


def write_safetensors(path: Path, tensors: dict[str, tuple[str, np.ndarray]]) -> None:
    header, at = {}, 0
    for name, (dtype, data) in tensors.items():
        header[name] = {"dtype": dtype, "shape": list(data.shape), "data_offsets": [at, at + data.nbytes]}
        at += data.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for _, data in tensors.values():
            file.write(np.ascontiguousarray(data).tobytes())


def quantization(form: str) -> dict:
    if form == "bf16":
        return {}
    if form == "fp8":
        block = {"weight_block_size": [BLOCK, BLOCK], "modules_to_not_convert": ["lm_head"]}
        return {"quantization_config": {"quant_method": "fp8", "fmt": "e4m3", "activation_scheme": "dynamic"} | block}
    group = {"targets": ["Linear"], "weights": INT8, "input_activations": None, "format": "int-quantized"}
    whole = {"quantization_status": "compressed", "config_groups": {"group_0": group}, "ignore": ["lm_head"]}
    return {"quantization_config": {"quant_method": "compressed-tensors", "format": "int-quantized"} | whole}


def config_of(reader: gguf.GGUFReader, form: str) -> dict:
    def key(name: str):
        return reader.fields[f"llama.{name}"].contents()

    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": key("embedding_length"),
        "intermediate_size": key("feed_forward_length"),
        "num_hidden_layers": key("block_count"),
        "num_attention_heads": key("attention.head_count"),
        "num_key_value_heads": key("attention.head_count_kv"),
        "head_dim": key("rope.dimension_count"),
        "rms_norm_eps": float(np.float32(key("attention.layer_norm_rms_epsilon"))),
        "rope_theta": key("rope.freq_base"),
        "max_position_embeddings": key("context_length"),
        "vocab_size": key("vocab_size"),
        "hidden_act": "silu",
        "tie_word_embeddings": True,
        "bos_token_id": reader.fields["tokenizer.ggml.bos_token_id"].contents(),
        "eos_token_id": reader.fields["tokenizer.ggml.eos_token_id"].contents(),
        "torch_dtype": "bfloat16",
    } | quantization(form)


def to_safetensors(reader: gguf.GGUFReader, form: str, folder: Path) -> None:
    config = config_of(reader, form)
    heads = {"attn_q": config["num_attention_heads"], "attn_k": config["num_key_value_heads"]}
    tensors: dict[str, tuple[str, np.ndarray]] = {}
    for tensor in reader.tensors:
        value = gguf.dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
        if tensor.name in OUTER:
            tensors[OUTER[tensor.name]] = ("BF16", bf16(value))
            continue
        _, layer, part, _ = tensor.name.split(".")
        module = f"model.layers.{layer}.{NAMES[part]}"
        value = by_halves(value, heads[part]) if part in heads else value
        if form == "bf16" or value.ndim == 1:
            tensors[f"{module}.weight"] = ("BF16", bf16(value))
            continue
        codes, scale = (fp8 if form == "fp8" else int8)(value)
        tensors[f"{module}.weight"] = ("F8_E4M3" if form == "fp8" else "I8", codes)
        tensors[f"{module}.weight_scale" + ("_inv" if form == "fp8" else "")] = ("BF16", scale)
    write_safetensors(folder / "model.safetensors", tensors)
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n")


def to_gguf(reader: gguf.GGUFReader, form: str, folder: Path) -> None:
    writer = gguf.GGUFWriter(folder / "model.gguf", reader.fields["general.architecture"].contents())
    for field in reader.fields.values():
        if not field.name.startswith("GGUF.") and field.name != "general.architecture":
            inner = field.types[-1] if len(field.types) > 1 else None
            writer.add_key_value(field.name, field.contents(), field.types[0], sub_type=inner)
    for tensor in reader.tensors:
        if len(tensor.shape) == 1 or tensor.name == "token_embd.weight":
            writer.add_tensor(tensor.name, tensor.data, raw_dtype=tensor.tensor_type)
            continue
        value = gguf.dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
        kind = Type.Q8_0 if form == "q8_0" else Type.Q4_K if value.shape[1] % 256 == 0 else Type.Q5_0
        data = q4_k(value) if kind == Type.Q4_K else gguf.quantize(value, kind)
        error = np.linalg.norm(gguf.dequantize(data, kind) - value) / np.linalg.norm(value)
        if error > 0.12:
            raise ValueError(f"{tensor.name} as {kind.name} comes back with a relative error of {error:.3f}")
        writer.add_tensor(tensor.name, data, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main() -> None:
    source, form, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    reader = gguf.GGUFReader(source)
    (to_gguf if form in ("q8_0", "q4_k") else to_safetensors)(reader, form, folder)


main()
