"""Writes real/NAME.json: what transformers makes of a trained model, in float32, of values that gguf-py dequantizes.

`text`: token ids of real/lighthouse.txt and the log-probability of each but the first. `answers`: greedy answers to plain questions, by
the model's own chat template, with margins as golden.json has them.

Usage: python generate/real.py FOLDER   (of `MODEL=smollm2 deploy/local/model.sh`; in the environment of make-venv.sh)
"""

import json
import sys
from pathlib import Path

import torch
import transformers

from reference import DIGITS, measure

HERE = Path(__file__).parent.parent / "real"
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
TOKENS = 24


@torch.no_grad()
def scored(model, ids: list[int]) -> list[float]:
    rows = model(input_ids=torch.tensor([ids]), use_cache=False).logits[0].float()
    return [round(measure(rows[i], ids[i + 1])[2], DIGITS) for i in range(len(ids) - 1)]


@torch.no_grad()
def answered(model, tokenizer, question: str) -> dict:
    prompt = tokenizer.apply_chat_template([{"role": "user", "content": question}], add_generation_prompt=True, return_dict=False)
    ids, tokens, margins = list(prompt), [], []
    while len(tokens) < TOKENS and (not tokens or tokens[-1] != tokenizer.eos_token_id):
        token, margin, _ = measure(model(input_ids=torch.tensor([ids]), use_cache=False).logits[0, -1].float(), 0)
        tokens.append(int(token))
        margins.append(round(float(margin), DIGITS))
        ids.append(int(token))
    text = tokenizer.decode(tokens, skip_special_tokens=True)
    return {"question": question, "prompt": prompt, "tokens": tokens, "margins": margins, "text": text}


def main() -> None:
    torch.set_num_threads(2)
    folder = sys.argv[1]
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, gguf_file="model.gguf", dtype=torch.float32)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, gguf_file="model.gguf")
    ids = tokenizer((HERE / "lighthouse.txt").read_text(), add_special_tokens=False).input_ids
    golden = {
        "reference": f"transformers {transformers.__version__}, torch {torch.__version__}, float32",
        "text": {"ids": ids, "logprobs": scored(model, ids)},
        "answers": [answered(model, tokenizer, question) for question in QUESTIONS],
    }
    (HERE / "smollm2.json").write_text(json.dumps(golden, indent=1, ensure_ascii=False) + "\n")


main()
