"""What of a generated request is changed before it is sent."""

import schemathesis

LONG_SECONDS = 60


@schemathesis.hook
def before_call(context, case, kwargs):
    """A request that may wait for next to nothing is answered 503 by a busy machine, as it should be."""
    body = case.body
    if isinstance(body, dict) and isinstance(body.get("max_queue_seconds"), (int, float)):
        if 0 < body["max_queue_seconds"] < LONG_SECONDS:
            body["max_queue_seconds"] = LONG_SECONDS
