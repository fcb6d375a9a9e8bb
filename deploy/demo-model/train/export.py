"""Writes the checkpoint folder from the training snapshots: FP8 block-128 matrices, two shards with an index, tokenizer.

Usage: python export.py --work DIR [--to DIR]
Without mtp.pt in --work the MTP layer is left out and mtp_num_hidden_layers is 0.
"""

import argparse
import json
from pathlib import Path

import torch
import torch.nn as nn
from safetensors.torch import save_file
from tokenizers import Tokenizer
from torch import Tensor

from chat import TEMPLATE
from checkpoint_config import generation_config, model_config, tokenizer_config
from model import Shape, Trunk
from mtp import Mtp
from quantize import quantize
from served import F32_SUFFIXES, quantized_names
from tokenizer import SPECIAL, THINK

CHECKPOINT = Path(__file__).parent.parent / "checkpoint"
TRUNK_PREFIX, MTP_PREFIX = "model.language_model.", "mtp."
SHARDS = 2


def stored(module: nn.Module, prefix: str) -> dict[str, Tensor]:
    """Checkpoint tensors of a module, in its own order."""
    fp8 = quantized_names(module)
    tensors: dict[str, Tensor] = {}
    for name, value in module.state_dict().items():
        if name in fp8:
            tensors[prefix + name], tensors[prefix + name + "_scale_inv"] = quantize(value)
        else:
            tensors[prefix + name] = value if name.endswith(F32_SUFFIXES) else value.bfloat16()
    return tensors


def unquantized_modules(module: nn.Module, prefix: str) -> list[str]:
    """Modules with a matrix or a convolution that stays BF16; norms are never candidates."""
    fp8 = quantized_names(module)
    names = [n for n, p in module.named_parameters() if p.ndim > 1 and n not in fp8]
    return [prefix + n.removesuffix(".weight") for n in names]


def write_shards(tensors: dict[str, Tensor], folder: Path) -> None:
    """Cuts at half the bytes. A scale follows its weight, but the cut may fall between the two."""
    sizes = {n: t.numel() * t.element_size() for n, t in tensors.items()}
    total, seen, place = sum(sizes.values()), 0, {}
    for name, size in sizes.items():
        place[name] = min(SHARDS - 1, seen * SHARDS // total)
        seen += size
    files = [f"model-{i + 1:05}-of-{SHARDS:05}.safetensors" for i in range(SHARDS)]
    for i, file in enumerate(files):
        part = {n: t.contiguous() for n, t in tensors.items() if place[n] == i}
        save_file(part, folder / file, metadata={"format": "pt"})
        (folder / file).chmod(0o644)  # the library creates it for its owner alone
    index = {"metadata": {"total_size": total}, "weight_map": {n: files[place[n]] for n in sorted(tensors)}}
    write_json(folder / "model.safetensors.index.json", index)


def write_json(path: Path, value: dict) -> None:
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def export(work: Path, folder: Path) -> None:
    shape = Shape()
    trunk = Trunk(shape)
    trunk.load_state_dict(torch.load(work / "trunk.pt")["model"])
    tensors = stored(trunk, TRUNK_PREFIX)
    kept = ["lm_head", *unquantized_modules(trunk, TRUNK_PREFIX)]
    has_mtp = (work / "mtp.pt").exists()
    if has_mtp:
        mtp = Mtp(shape)
        mtp.load_state_dict(torch.load(work / "mtp.pt")["model"])
        tensors |= stored(mtp, MTP_PREFIX)
        kept += unquantized_modules(mtp, MTP_PREFIX)

    tokenizer = Tokenizer.from_file(str(work / "tokenizer.json"))
    ids = {t: tokenizer.token_to_id(t) for t in (*SPECIAL, *THINK)}
    config = model_config(shape, ids, kept)
    config["text_config"]["mtp_num_hidden_layers"] = int(has_mtp)
    folder.mkdir(parents=True, exist_ok=True)
    write_shards(tensors, folder)
    write_json(folder / "config.json", config)
    write_json(folder / "generation_config.json", generation_config(ids))
    added = {i: (t, t in SPECIAL) for t, i in ids.items()}
    write_json(folder / "tokenizer_config.json", tokenizer_config(TEMPLATE.read_text(), added))
    tokenizer.save(str(folder / "tokenizer.json"))
    size = sum(p.stat().st_size for p in folder.iterdir())
    print(f"{folder}: {len(tensors)} tensors, {size / 1e6:.2f} MB{'' if has_mtp else ', no MTP layer yet'}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--to", type=Path, default=CHECKPOINT)
    a = parser.parse_args()
    export(a.work, a.to)
