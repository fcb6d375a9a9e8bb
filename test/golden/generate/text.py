"""Writes tokenizer.json and chat-template.json: what the reference libraries make of the demo model's tokenizer.

Usage: python generate/text.py   (in the environment of make-venv.sh)
"""

import json
from pathlib import Path

import tokenizers
import transformers
from tokenizers import pre_tokenizers
from transformers.integrations.gguf.gguf_tokenizer_mapping import GGUF_PRE_TOKENIZER_SPLITS

from conversations import CASES
from strings import all_strings

HERE = Path(__file__).parent.parent
CHECKPOINT = HERE.parents[1] / "deploy" / "demo-model" / "checkpoint"


def tokenizer_cases() -> list[dict]:
    tokenizer = tokenizers.Tokenizer.from_file(str(CHECKPOINT / "tokenizer.json"))
    cases = []
    by_gpt4o = gpt4o_ids()
    for text, gpt4o in zip(all_strings(), by_gpt4o, strict=True):
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        cases.append(
            {
                "text": text,
                "ids": ids,
                "gpt4o": gpt4o,
                "decoded": tokenizer.decode(ids, skip_special_tokens=False),
                "decodedSkippingSpecial": tokenizer.decode(ids, skip_special_tokens=True),
            }
        )
    return cases


def gpt4o_ids() -> list[list[int]]:
    """Of the same texts and vocabulary, with the words of gpt-4o as transformers reads them from GGUF files."""
    tokenizer = tokenizers.Tokenizer.from_file(str(CHECKPOINT / "tokenizer.json"))
    tokenizer.normalizer = None
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(tokenizers.Regex(GGUF_PRE_TOKENIZER_SPLITS["gpt-4o"]), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    return [tokenizer.encode(text, add_special_tokens=False).ids for text in all_strings()]


def template_cases() -> list[dict]:
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_file=str(CHECKPOINT / "tokenizer.json"),
        chat_template=json.loads((CHECKPOINT / "tokenizer_config.json").read_text())["chat_template"],
    )
    cases = []
    for case in CASES:
        options = case["options"]
        switch = {"enable_thinking": options["enableThinking"]} if "enableThinking" in options else {}
        rendered = tokenizer.apply_chat_template(
            case["messages"], tokenize=False, add_generation_prompt=options["addGenerationPrompt"], **switch
        )
        cases.append({**case, "rendered": rendered})
    return cases


def write(name: str, reference: dict, cases: list[dict]) -> None:
    lines = ",\n".join(json.dumps(case) for case in cases)  # one case per line; ASCII, so that no editor changes the text
    (HERE / name).write_text(f'{{"reference": {json.dumps(reference)}, "cases": [\n{lines}\n]}}\n')
    print(f"{name}: {len(cases)} cases")


if __name__ == "__main__":
    write("tokenizer.json", {"tokenizers": tokenizers.__version__}, tokenizer_cases())
    write("chat-template.json", {"transformers": transformers.__version__}, template_cases())
