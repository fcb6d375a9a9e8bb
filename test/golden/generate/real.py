"""Writes real/NAME.json: what transformers makes of a trained model, in float32, of values that gguf-py dequantizes.

`text`: token ids of real/lighthouse.txt and the log-probability of each but the first. `perplexity`: of that text with keys and values in
FP8 (`kvFp8`, as in kv_fp8.py), and of what real_forms.py made of the file, read back by transformers, compressed-tensors and formats.py.
`answers`: greedy answers to plain questions, by the model's own chat template or, without one, as in an examination. `copy`: to a request
to repeat a text, of models that have a template. With margins as golden.json has them.

Usage: python generate/real.py NAME   (smollm2 or gemma3; in the environment of make-venv.sh)
"""

import json
import math
import subprocess
import sys
from pathlib import Path

import torch
import transformers
from safetensors.torch import load_file
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import sdpa_mask

import packed
from formats import FP8_BLOCK, values
from kv_fp8 import attend
from reference import DIGITS, measure

HERE = Path(__file__).parent.parent / "real"
FORMS = {"smollm2": ("bf16", "fp8", "int8", "q8_0", "q4_k"), "gemma3": ()}
QUESTIONS = (
    "What is the capital of France?",
    "How many days are in a week?",
    "What is the opposite of hot?",
    "Which planet do we live on?",
    "What colour is the sky on a clear day?",
    "What do bees make?",
    "What is two plus two?",
    "In which ocean is Hawaii?",
    "Who wrote Romeo and Juliet?",
    "What is frozen water called?",
)
TOKENS, COPIED_TOKENS = 24, 96


def folder_of(*arguments: str) -> str:
    return subprocess.check_output([HERE / "model.sh", *arguments], text=True).strip()


def load(folder: str):
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, gguf_file="model.gguf", dtype=torch.float32)
    for module in model.modules():
        if hasattr(module, "scalar_embed_scale"):
            # As Gemma's releases, which are in bfloat16, have it: see reference.py.
            module.embed_scale = module.embed_scale.bfloat16().float()
    return model.eval()


def in_form(name: str, form: str, model):
    """`model`, or another one, with the values of a form."""
    folder = folder_of(name, form)
    if form.startswith("q"):
        return load(folder)
    stored = load_file(f"{folder}/model.safetensors")
    read = packed.read("w8a8", stored) if form == "int8" else values(stored, FP8_BLOCK)
    result = model.load_state_dict(read, strict=False)
    if result.unexpected_keys or set(result.missing_keys) - {"lm_head.weight"}:
        raise ValueError(f"{folder} does not fit: {result}")
    model.tie_weights()
    return model


@torch.no_grad()
def scored(model, ids: list[int]) -> list[float]:
    rows = model(input_ids=torch.tensor([ids]), use_cache=False).logits[0].float()
    return [round(measure(rows[i], ids[i + 1])[2], DIGITS) for i in range(len(ids) - 1)]


def perplexity(logprobs: list[float]) -> float:
    return round(math.exp(-sum(logprobs) / len(logprobs)), DIGITS)


@torch.no_grad()
def continued(model, tokenizer, prompt: list[int], count: int) -> dict:
    given, cache, tokens, margins = list(prompt), None, [], []
    while len(tokens) < count and (not tokens or tokens[-1] != tokenizer.eos_token_id):
        made = model(input_ids=torch.tensor([given]), past_key_values=cache, use_cache=True)
        token, margin, _ = measure(made.logits[0, -1].float(), 0)
        tokens.append(int(token))
        margins.append(round(float(margin), DIGITS))
        given, cache = [int(token)], made.past_key_values
    text = tokenizer.decode(tokens, skip_special_tokens=True)
    return {"prompt": prompt, "tokens": tokens, "margins": margins, "text": text}


def prompt_of(tokenizer, question: str) -> list[int]:
    if tokenizer.chat_template is None:
        return tokenizer(f"Question: {question}\nAnswer:").input_ids
    messages = [{"role": "user", "content": question}]
    return list(tokenizer.apply_chat_template(messages, add_generation_prompt=True, return_dict=False))


def main() -> None:
    torch.set_num_threads(2)
    AttentionInterface.register("rounded_kv", attend)
    AttentionMaskInterface.register("rounded_kv", sdpa_mask)
    name = sys.argv[1]
    folder = folder_of(name)
    model = load(folder)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, gguf_file="model.gguf")
    text = (HERE / "lighthouse.txt").read_text()
    ids = tokenizer(text).input_ids
    golden = {
        "reference": f"transformers {transformers.__version__}, torch {torch.__version__}, float32",
        "text": {"ids": ids, "logprobs": scored(model, ids)},
        "answers": [
            {"question": question} | continued(model, tokenizer, prompt_of(tokenizer, question), TOKENS) for question in QUESTIONS
        ],
    }
    if tokenizer.chat_template is not None:
        passage = " ".join(text.split("\n\n")[0].split())
        prompt = prompt_of(tokenizer, f"Repeat this text word for word:\n\n{passage}")
        golden["copy"] = continued(model, tokenizer, prompt, COPIED_TOKENS)
    attention = model.config._attn_implementation
    model.set_attn_implementation("rounded_kv")
    golden["perplexity"] = {"kvFp8": perplexity(scored(model, ids))}
    model.set_attn_implementation(attention)
    for form in FORMS[name]:
        golden["perplexity"][form] = perplexity(scored(in_form(name, form, model), ids))
    (HERE / f"{name}.json").write_text(json.dumps(golden, indent=1, ensure_ascii=False) + "\n")


main()
