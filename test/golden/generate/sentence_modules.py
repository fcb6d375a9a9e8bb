"""Writes beside a tiny encoder the modules that EmbeddingGemma is published with, and sentences.json, the embeddings that
sentence-transformers' own modules make of the hidden states that transformers gives to the prompts of embeddings.json in fp32.

Usage: python generate/sentence_modules.py   (in the environment of models.py, with sentence-transformers 6.2)
"""

import json

import torch
from torch import nn
from sentence_transformers.base.modules.dense import Dense
from sentence_transformers.base.modules.normalize import Normalize
from sentence_transformers.sentence_transformer.modules.pooling import Pooling
from transformers import AutoModel

from encoders import ENCODERS, rounded

FOLDER = ENCODERS / "gemma3_text-bidirectional"
SEED = 105


def dense(inputs: int, outputs: int, bias: bool, activation: nn.Module) -> Dense:
    module = Dense(inputs, outputs, bias=bias, activation_function=activation)
    for values in module.parameters():
        nn.init.normal_(values, std=inputs**-0.5)
    return module


@torch.no_grad()
def generate() -> None:
    torch.manual_seed(SEED)
    model = AutoModel.from_pretrained(FOLDER, dtype=torch.float32)
    width = model.config.hidden_size
    projected = [dense(width, 40, True, nn.Tanh()), dense(40, 24, False, nn.Identity())]
    modules = {"1_Pooling": Pooling(width, pooling_mode="mean"), "2_Dense": projected[0], "3_Dense": projected[1], "4_Normalize": Normalize()}
    listed = [{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"}]
    for index, (path, module) in enumerate(modules.items(), 1):
        kind = type(module).__name__
        listed.append({"idx": index, "name": str(index), "path": path, "type": f"sentence_transformers.models.{kind}"})
        if kind != "Normalize":
            (FOLDER / path).mkdir(exist_ok=True)
            module.save(str(FOLDER / path))
    (FOLDER / "modules.json").write_text(json.dumps(listed, indent=2) + "\n")
    measured = []
    for golden in json.loads((FOLDER / "embeddings.json").read_text()):
        ids = torch.tensor([golden["prompt"]])
        states = model(input_ids=ids).last_hidden_state
        made = {}
        for mode in ("cls", "mean"):
            features = {"token_embeddings": states, "attention_mask": torch.ones_like(ids)}
            for module in (Pooling(width, pooling_mode=mode), *projected, modules["4_Normalize"]):
                features = module(features)
            made[mode] = rounded(features["sentence_embedding"][0])
        measured.append({"prompt": golden["prompt"], **made})
    (FOLDER / "sentences.json").write_text(json.dumps(measured, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    torch.set_num_threads(1)
    generate()
