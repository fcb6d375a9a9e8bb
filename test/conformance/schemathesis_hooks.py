"""What of a generated request is changed before it is sent."""

import schemathesis

LONG_SECONDS = 60
FEW_TOKENS = 16
LENGTH_FIELDS = {
    "/v1/chat/completions": "max_tokens",
    "/v1/completions": "max_tokens",
    "/v1/messages": "max_tokens",
    "/v1/responses": "max_output_tokens",
}


def is_whole(value):
    return isinstance(value, int) and not isinstance(value, bool)


@schemathesis.hook
def before_call(context, case, kwargs):
    body = case.body
    if not isinstance(body, dict):
        return
    wait_long(body)
    answer_shortly(body, case.path)


def wait_long(body):
    """A request that may wait for next to nothing is answered 503 by a busy machine, as it should be."""
    if isinstance(body.get("max_queue_seconds"), (int, float)):
        if 0 < body["max_queue_seconds"] < LONG_SECONDS:
            body["max_queue_seconds"] = LONG_SECONDS


def answer_shortly(body, path):
    """A random prompt is answered to the end of the context, seconds in which nothing new is tried."""
    for name in ("max_tokens", "max_completion_tokens", "max_output_tokens", "min_tokens"):
        if is_whole(body.get(name)) and body[name] > FEW_TOKENS:
            body[name] = FEW_TOKENS
    for ending, name in LENGTH_FIELDS.items():
        if path.endswith(ending) and body.get("max_completion_tokens") is None:
            body.setdefault(name, FEW_TOKENS)
