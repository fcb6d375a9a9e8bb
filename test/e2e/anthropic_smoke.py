"""The Anthropic Python SDK against a service: prints what each call gave. usage: anthropic_smoke.py BASE_URL HOST"""

import json
import sys

from anthropic import Anthropic, APIStatusError

base_url, host = sys.argv[1:]
client = Anthropic(base_url=base_url, api_key="none", default_headers={"Host": host}, max_retries=0)
messages = [{"role": "user", "content": "What is the capital of France?"}]
# The SDK has no parameter for the temperature any more; servers honour it.
asked = {"model": "demo", "max_tokens": 48, "messages": messages, "extra_body": {"temperature": 0}}


def error_of(**changes: object) -> str | None:
    try:
        client.messages.create(**{**asked, **changes})
    except APIStatusError as error:
        return type(error).__name__
    return None


message = client.messages.create(**asked)
streamed = "".join(
    event.delta.text
    for event in client.messages.create(**asked, stream=True)
    if event.type == "content_block_delta"
)
with client.messages.stream(**asked) as stream:
    helper = "".join(stream.text_stream)
print(
    json.dumps(
        {
            "message": [message.stop_reason, message.content[0].text],
            "streamed": streamed,
            "helper": helper,
            "tokens": client.messages.count_tokens(model="demo", messages=messages).input_tokens,
            "wrongModel": error_of(model="absent"),
            "wrongParameter": error_of(max_tokens=0),
        }
    )
)
