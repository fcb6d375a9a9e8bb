"""The OpenAI Python SDK against a service: prints what each call gave. usage: openai_smoke.py BASE_URL HOST"""

import json
import sys

from openai import APIStatusError, OpenAI

base_url, host = sys.argv[1:]
client = OpenAI(base_url=base_url, api_key="none", default_headers={"Host": host}, max_retries=0)
chat = {
    "model": "demo",
    "messages": [{"role": "user", "content": "What is the capital of France?"}],
    "max_tokens": 48,
    "temperature": 0,
}


def status_of(**changes: object) -> int:
    try:
        client.chat.completions.create(**{**chat, **changes})
    except APIStatusError as error:
        return error.status_code
    return 200


chunks = client.chat.completions.create(**chat, stream=True)
streamed = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
with client.chat.completions.stream(**chat) as stream:
    helper = stream.get_final_completion().choices[0].message.content
raw = client.chat.completions.with_raw_response.create(**chat)
embeddings = client.embeddings.create(model="demo", input=["a", "b"]).data
asked = {"model": "demo", "input": chat["messages"], "max_output_tokens": 48, "temperature": 0}
with client.responses.stream(**asked) as stream:
    response_events = [event.type for event in stream]
    streamed_response = stream.get_final_response().output_text
completion = client.completions.create(model="demo", prompt="The capital of", max_tokens=4)
print(
    json.dumps(
        {
            "response": client.responses.create(**asked).output_text,
            "streamedResponse": [response_events[0], response_events[-1], streamed_response],
            "helper": helper,
            "raw": [raw.status_code, "x-request-id" in raw.headers],
            "embeddings": [embedding.index for embedding in embeddings],
            "chat": client.chat.completions.create(**chat).choices[0].message.content,
            "streamed": streamed,
            "completion": completion.choices[0].text,
            "models": [model.id for model in client.models.list()],
            "wrongModel": status_of(model="absent"),
            "wrongParameter": status_of(temperature=-1),
        }
    )
)
