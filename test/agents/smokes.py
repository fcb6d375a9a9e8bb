"""One small task by each Python library: a tool that reads a file, its result, and the answer. Each prints the answer.
usage: smokes.py LIBRARY BASE_URL [VERSION]   (in the folder of the task's file; TASK is in the environment)"""

import os
import sys

task = os.environ["TASK"]
connection = {"base_url": f"{sys.argv[2]}/v1", "api_key": "none"}


def read_file(path: str) -> str:
    """Reads a file of text."""
    with open(path) as file:
        return file.read()


def langchain() -> str:
    from langchain_core.messages import HumanMessage
    from langchain_core.tools import tool
    from langchain_openai import ChatOpenAI

    reader = tool(read_file)
    model = ChatOpenAI(model="demo", **connection).bind_tools([reader])
    messages = [HumanMessage(task)]
    answer = model.invoke(messages)
    messages += [answer, *(reader.invoke(call) for call in answer.tool_calls)]
    return "".join(str(chunk.content) for chunk in model.stream(messages))


def llama_index() -> str:
    from llama_index.core.tools import FunctionTool
    from llama_index.llms.openai_like import OpenAILike

    model = OpenAILike(
        model="demo",
        api_base=connection["base_url"],
        api_key=connection["api_key"],
        is_chat_model=True,
        is_function_calling_model=True,
        context_window=4096,
    )
    called = model.predict_and_call([FunctionTool.from_defaults(read_file)], task)
    streamed = "".join(str(part.delta or "") for part in model.stream_complete(task))
    return f"{called}{streamed}"


def pydantic_ai() -> str:
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    agent = Agent(OpenAIChatModel("demo", provider=OpenAIProvider(**connection)), tools=[read_file])
    return agent.run_sync(task).output


def instructor() -> str:
    from typing import Literal

    import instructor as library
    from openai import OpenAI
    from pydantic import BaseModel

    class Colour(BaseModel):
        name: Literal["red", "teal"]

    client = library.from_openai(OpenAI(**connection))
    messages = [{"role": "user", "content": task}]
    colour = client.chat.completions.create(model="demo", response_model=Colour, messages=messages)
    return f"The colour is {colour.name}."


def dspy() -> str:
    import dspy as library

    model = library.LM("openai/demo", api_base=connection["base_url"], api_key=connection["api_key"], cache=False)
    library.configure(lm=model)
    return library.Predict("question -> answer")(question=task).answer


def kserve() -> str:
    import asyncio

    import numpy
    from kserve import InferenceRESTClient, InferInput, InferRequest, RESTConfig

    url, version = sys.argv[2:]

    async def v1(client: InferenceRESTClient) -> str:
        assert await client.is_server_live(url) and await client.is_model_ready(url, "demo")
        answer = await client.infer(url, {"instances": [{"prompt": task}]}, model_name="demo")
        return answer["predictions"][0]["response"]

    async def v2(client: InferenceRESTClient) -> str:
        assert await client.is_server_live(url) and await client.is_server_ready(url)
        assert await client.is_model_ready(url, "demo")
        listed = InferInput(name="text_input", shape=[1], datatype="BYTES", data=[task])
        behind = InferInput(name="text_input", shape=[1], datatype="BYTES")
        behind.set_data_from_numpy(numpy.array([task], dtype=object))
        first, second = [
            await client.infer(url, InferRequest("demo", [texts]), model_name="demo") for texts in (listed, behind)
        ]
        assert first.outputs == second.outputs
        binary = InferRequest("demo", [behind], parameters={"binary_data_output": True})
        third = await client.infer(url, binary, model_name="demo")
        [said] = third.outputs[0].as_numpy()
        assert (said.decode() if isinstance(said, bytes) else said) == first.outputs[0].data[0]
        return first.outputs[0].data[0]

    async def ask() -> str:
        async with InferenceRESTClient(RESTConfig(protocol=version)) as client:
            return await (v1 if version == "v1" else v2)(client)

    return asyncio.run(ask())


def tritonclient() -> str:
    import numpy
    from tritonclient.http import InferenceServerClient, InferInput, InferRequestedOutput
    from tritonclient.utils import InferenceServerException

    client = InferenceServerClient(sys.argv[2].removeprefix("http://"))
    assert client.is_server_live() and client.is_server_ready() and client.is_model_ready("demo")
    assert "binary_tensor_data" in client.get_server_metadata()["extensions"]
    texts = InferInput("text_input", [1], "BYTES")
    texts.set_data_from_numpy(numpy.array([task], dtype=object))

    def answered(**asked: object) -> str:
        said = client.infer("demo", [texts], **asked).as_numpy("text_output")[0]
        return said.decode() if isinstance(said, bytes) else said

    # Without outputs it asks for all of them as bytes behind the JSON.
    ways = [{}, *({"outputs": [InferRequestedOutput("text_output", binary_data=way)]} for way in (True, False))]
    said, *others = [answered(**way) for way in ways]
    assert others == [said, said]
    try:
        client.infer("other", [texts])
    except InferenceServerException as error:
        assert "does not exist here" in error.message()
        return said
    raise AssertionError("a model that is not served was found")


print(globals()[sys.argv[1]]())
