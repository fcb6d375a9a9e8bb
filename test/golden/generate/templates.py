"""Renders chat templates with transformers' own environment: what templates.test.ts compares with.

Usage: python generate/templates.py [FOLDER]   (in the environment of make-venv.sh; FOLDER: from templates/get.sh)
"""

import hashlib
import json
import logging
import sys
from datetime import UTC, datetime
from pathlib import Path

import transformers
from transformers.utils import chat_template_utils

from expressions import TEMPLATES, VARIABLES

HERE = Path(__file__).parent.parent
CONVERSATIONS = json.loads((HERE / "templates" / "conversations.json").read_text())
TOKENS = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
logging.disable()


class Clock:
    """What the templates' strftime_now reads."""

    @staticmethod
    def now() -> datetime:
        return datetime(2026, 7, 4, 9, 5, 3, tzinfo=UTC)


chat_template_utils.datetime = Clock


def rendered(template: str, conversation: dict) -> str | None:
    """None: the template refuses it, or cannot be parsed."""
    variables = {"add_generation_prompt": True, "tools": None, "documents": None, **TOKENS, **conversation}
    try:
        return chat_template_utils._compile_jinja_template(template).render(**variables)
    except Exception:  # whatever a template raises, the request fails
        return None


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def write(name: str, content: dict) -> None:
    text = json.dumps({"transformers": transformers.__version__, **content}, indent=1)
    (HERE / "templates" / name).write_text(text + "\n")


def write_expressions() -> None:
    cases = [{"template": each, "text": rendered(each, VARIABLES)} for each in TEMPLATES]
    write("expressions.json", {"variables": VARIABLES, "cases": cases})
    print(f"{len(cases)} expressions, {sum(each['text'] is None for each in cases)} refused")


def write_public(folder: Path) -> None:
    """Digests: the templates belong to their authors."""
    templates = {}
    for path in sorted(folder.glob("*.jinja")):
        template = path.read_text()
        texts = {name: rendered(template, each) for name, each in CONVERSATIONS.items()}
        renders = {name: text if text is None else digest(text) for name, text in texts.items()}
        templates[path.name] = {"template": digest(template), "renders": renders}
    write("public.json", {"templates": templates})
    refused = sum(each is None for of in templates.values() for each in of["renders"].values())
    print(f"{len(templates)} templates × {len(CONVERSATIONS)} conversations, {refused} refused")


if __name__ == "__main__":
    write_expressions()
    for folder in sys.argv[1:]:
        write_public(Path(folder))
