"""Calls of tools as public chat templates write them, rendered by transformers: what tool-calls.test.ts reads back.

Usage: python generate/tool_calls.py   (in the environment of make-venv.sh)
"""

import json
from pathlib import Path

import transformers

from templates import rendered

HERE = Path(__file__).parent.parent
PUBLIC = HERE / "templates" / "public"

# By template: the form, and what its answers begin with.
TEMPLATES = {
    "Qwen-Qwen3-0.6B": ("qwenJson", "<tool_call>"),
    "vllm-tool_chat_template_hermes": ("qwenJson", "<tool_call>"),
    "Qwen3-Coder": ("qwenXml", "<tool_call>"),
    "GLM-4.6": ("glmXml", "<tool_call>"),
    "GLM-4.7-Flash": ("glmXml", "<tool_call>"),
    "google-gemma-4-31B-it": ("gemma", "<|tool_call>"),
    "Mistral-Small-3.2-24B-Instruct-2506": ("mistralNamed", "[TOOL_CALLS]"),
    "mistralai-Ministral-3-14B-Reasoning-2512": ("mistralNamed", "[TOOL_CALLS]"),
    "unsloth-mistral-Devstral-Small-2507": ("mistralNamed", "[TOOL_CALLS]"),
    "mistralai-Mistral-Nemo-Instruct-2407": ("mistralJson", "[TOOL_CALLS]"),
    "vllm-tool_chat_template_mistral_parallel": ("mistralJson", "[TOOL_CALLS]"),
    "vllm-tool_chat_template_deepseekv31": ("deepSeekBare", "<｜tool▁calls▁begin｜>"),
    "Apriel-1.6-15b-Thinker-fixed": ("aprielJson", "<tool_calls>"),
    "vllm-tool_chat_template_llama3.1_json": ("llamaJson", '{"name"'),
}
ENDS = ["<|eot_id|>", "<turn|>", "<|tool_response>", "</s>", "<|im_end|>", "<｜end▁of▁sentence｜>", "<|end|>"]

# Of the tools in tool-reader.fixture.ts. @BEGIN@ and @END@ stand for the letters of the form's markers.
CALLS = {
    "one call": [("f", {"text": "Bern", "count": 3})],
    "no arguments": [("ping", {})],
    "several calls": [("f", {"count": 1}), ("ping", {}), ("f", {"text": "x"})],
    "every type": [
        ("f", {"text": "", "count": -7, "ratio": 0.125, "flag": False, "list": [1, 2.5, -3], "unit": "c"}),
        ("f", {"flag": True, "list": [], "place": {"x": 1.5}, "maybe": "yes"}),
    ],
    "objects in objects": [
        ("f", {"place": {"x": 1, "a": {"b": [{"c": "}"}, []], "d": {}}, "e": ["]", '"', "{"]}, "count": 2})
    ],
    "a text of code": [("f", {"text": 'if (a < b && c) {\n\treturn "x\\n" + \'y\';\n}\n', "count": 1})],
    "other scripts": [("f", {"text": "Zürich 東京 👩‍🚀 🇨🇭 مرحبا", "place": {"東京": "é"}})],
    "a text of JSON": [("f", {"text": '{"name": "ping", "arguments": {}}, [1, 2]: null'})],
    "a text of markers": [("f", {"text": 'a @BEGIN@ {"name": "ping"} @END@ b', "count": 1})],
    "a text of other forms": [
        ("f", {"text": "<function=ping></function> to=functions.ping[ARGS]{} call:ping{} <|python_tag|>ping()"})
    ],
}


def answer_of(template: str, begin: str, calls: list) -> str | None:
    tool_calls = [
        {"id": f"call{i:05}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for i, (name, arguments) in enumerate(calls)
    ]
    tools = [
        {"type": "function", "function": {"name": name, "description": "x", "parameters": {"type": "object"}}}
        for name in ["f", "ping"]
    ]
    messages = [
        {"role": "user", "content": "the question"},
        {"role": "assistant", "content": "", "tool_calls": tool_calls},
    ]
    text = rendered(template, {"messages": messages, "tools": tools, "add_generation_prompt": False})
    if text is None:
        return None
    behind = text[text.rindex("the question") :]
    answer = behind[behind.index(begin) :]
    ends = [answer.index(end) for end in ENDS if end in answer]
    return answer[: min(ends)] if ends else answer


def main() -> None:
    answers = []
    for name, (form, begin) in TEMPLATES.items():
        template = (PUBLIC / f"{name}.jinja").read_text()
        for case, calls in CALLS.items():
            answer = answer_of(template, begin, calls)
            if answer is None:
                print(f"{name} refuses {case}")
                continue
            if form == "llamaJson":  # calls have no marker: where it is, a text spells it
                calls, answer = (json.loads(json.dumps(each).replace("<|python_tag|>", "@BEGIN@")) for each in (calls, answer))
            answers.append({"template": name, "form": form, "case": case, "calls": calls, "answer": answer})
    content = {"transformers": transformers.__version__, "answers": answers}
    (HERE / "tool-calls.json").write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    print(f"{len(answers)} answers of {len(TEMPLATES)} templates")


if __name__ == "__main__":
    main()
