"""Turns messages into token ids by the checkpoint's own chat template, so that training sees what serving sends."""

from pathlib import Path

import jinja2.sandbox
from tokenizers import Tokenizer

from tokenizer import IM_END

TEMPLATE = Path(__file__).parent.parent / "chat_template.jinja"


def _refuse(message: str) -> None:
    raise ValueError(message)


class Chat:
    def __init__(self, tokenizer: Tokenizer):
        environment = jinja2.sandbox.ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
        environment.globals["raise_exception"] = _refuse
        self.template = environment.from_string(TEMPLATE.read_text())
        self.tokenizer = tokenizer

    def prompt(self, messages: list[dict], closed_think: bool) -> list[int]:
        """closed_think renders enable_thinking=false; otherwise the switch is left out."""
        switch = {"enable_thinking": False} if closed_think else {}
        text = self.template.render(messages=messages, add_generation_prompt=True, **switch)
        return self.tokenizer.encode(text, add_special_tokens=False).ids

    def answer(self, text: str) -> list[int]:
        return self.tokenizer.encode(text + IM_END, add_special_tokens=False).ids
