"""Answers in OpenAI's Harmony format as OpenAI's own library reads them: what harmony.test.ts compares with.

Usage: python generate/harmony.py   (in the environment of make-venv.sh; the library fetches its vocabulary, unless
TIKTOKEN_ENCODINGS_BASE names a folder that has o200k_base.tiktoken)
"""

import json
from importlib.metadata import version
from pathlib import Path

from openai_harmony import HarmonyEncodingName, Role, load_harmony_encoding

HERE = Path(__file__).parent.parent
ENCODING = load_harmony_encoding(HarmonyEncodingName.HARMONY_GPT_OSS)

ANALYSIS = "<|channel|>analysis<|message|>"
FINAL = "<|channel|>final<|message|>"
NEXT = "<|end|><|start|>assistant"
CALL = "<|channel|>commentary to=functions.f <|constrain|>json<|message|>"

# What follows <|start|>assistant. Letters of markers between ⟦ and ⟧ are spelled, as text.
ANSWERS = {
    "a thought and an answer": f"{ANALYSIS}User asks: 2 + 2?{NEXT}{FINAL}2 + 2 = 4.<|return|>",
    "an answer alone": f"{FINAL}Hello.<|return|>",
    "an answer on lines, between spaces": f"{FINAL} a\n\n b \n<|return|>",
    "an answer of other scripts": f"{ANALYSIS}Grüße?{NEXT}{FINAL}Zürich 東京 👩‍🚀 🇨🇭<|return|>",
    "a call": f'{ANALYSIS}Need f.{NEXT}{CALL}{{"text": "Zürich"}}<|call|>',
    "a call without a thought": f"{CALL}{{}}<|call|>",
    "a call whose recipient is with the role": (
        f'{ANALYSIS}x{NEXT} to=functions.f<|channel|>commentary <|constrain|>json<|message|>{{"count": 1}}<|call|>'
    ),
    "a call whose first recipient is with the role": (
        ' to=functions.f<|channel|>commentary json<|message|>{"count": 1}<|call|>'
    ),
    "a call without space before its type": (
        "<|channel|>commentary to=functions.f<|constrain|>json<|message|>{}<|call|>"
    ),
    "a call whose type is a word": "<|channel|>commentary to=functions.f json<|message|>{}<|call|>",
    "a call without a type": "<|channel|>commentary to=functions.f<|message|>{}<|call|>",
    "a call in the channel of thoughts": f"<|channel|>analysis to=functions.f code<|message|>{{}}<|call|>",
    "a call with a marker in its text": f'{CALL}{{"text": "⟦<|call|>⟧ and ⟦<|end|>⟧"}}<|call|>',
    "a call behind what the user is told": (
        f"{ANALYSIS}Two steps.{NEXT}<|channel|>commentary<|message|>**Plan**:\n1. f{NEXT}{CALL}{{}}<|call|>"
    ),
    "two calls": f'{CALL}{{"count": 1}}{NEXT}{CALL}{{"count": 2}}<|call|>',
    "a name with dots and dashes": (
        "<|channel|>commentary to=functions.a.b-c <|constrain|>json<|message|>{}<|call|>"
    ),
    "two thoughts": f"{ANALYSIS}One.{NEXT}{ANALYSIS}Two.{NEXT}{FINAL}Three.<|return|>",
    "two answers": f"{FINAL}One.{NEXT}{FINAL}Two.<|return|>",
    "an answer of a format": "<|channel|>final <|constrain|>json<|message|>{}<|return|>",
    "a search": '<|channel|>analysis to=browser.search code<|message|>{"query": "x"}<|call|>',
    "code for Python": "<|channel|>commentary to=python code<|message|>print(1)<|call|>",
    "a channel that nobody knows": "<|channel|>musing<|message|>Hm.<|return|>",
    "no channel": "<|message|>Hello.<|return|>",
    "markers that are spelled": (
        f"{ANALYSIS}⟦<|end|>⟧{NEXT}{FINAL}Write ⟦<|start|>⟧assistant⟦<|channel|>⟧final⟦<|message|>⟧.<|return|>"
    ),
    "an empty thought": f"{ANALYSIS}{NEXT}{FINAL}Yes.<|return|>",
    "an empty answer": f"{ANALYSIS}x{NEXT}{FINAL}<|return|>",
    "a thought that a limit cut": f"{ANALYSIS}Let me th",
    "an answer that a limit cut": f"{ANALYSIS}x{NEXT}{FINAL}It is ab",
    "a call that a limit cut": f'{CALL}{{"text": "Zü',
    "nothing but a thought": f"{ANALYSIS}Nothing to say.<|end|>",
}


def tokens_of(answer: str) -> list[int]:
    tokens = []
    for i, part in enumerate(answer.replace("⟧", "⟦").split("⟦")):
        tokens += ENCODING.encode(part, allowed_special="all" if i % 2 == 0 else set(), disallowed_special=())
    return tokens


def read(answer: str) -> list[dict] | None:
    """None: the library refuses it."""
    try:
        messages = ENCODING.parse_messages_from_completion_tokens(tokens_of(answer), Role.ASSISTANT)
    except Exception:  # of its own kinds, without a common base
        return None
    return [
        {
            "channel": each.channel,
            "recipient": each.recipient,
            "text": "".join(part.text for part in each.content),
        }
        for each in messages
    ]


def main() -> None:
    answers = {name: {"answer": text, "messages": read(text)} for name, text in ANSWERS.items()}
    content = {"openai-harmony": version("openai-harmony"), "answers": answers}
    (HERE / "harmony.json").write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    print(f"{len(answers)} answers, {sum(each['messages'] is None for each in answers.values())} refused")


if __name__ == "__main__":
    main()
