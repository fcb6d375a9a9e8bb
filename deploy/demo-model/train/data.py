"""Training batches: questions in random wording and context, bucketed by length; and the held-out set."""

import random
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from chat import Chat
from questions import Question

SYSTEM = (
    "You are a helpful assistant.",
    "You are the demo model of LlmService.",
    "Answer briefly.",
    "You are a friendly assistant. Answer in one sentence.",
)
IGNORED = -100  # cross_entropy's mark for positions without loss
POOL = 12  # batches that are drawn together and then sorted by length


@dataclass(frozen=True)
class Batch:
    ids: Tensor  # (B, T), padded at the end with 0: causal layers never read it
    targets: Tensor  # (B, T): the next token where it belongs to the answer, else IGNORED


def collate(examples: list[tuple[list[int], list[int]]]) -> Batch:
    """(prompt, answer) pairs to one batch; position t predicts token t+1."""
    length = max(len(p) + len(a) for p, a in examples) - 1
    ids = torch.zeros(len(examples), length, dtype=torch.long)
    targets = torch.full((len(examples), length), IGNORED, dtype=torch.long)
    for row, (prompt, answer) in enumerate(examples):
        whole = torch.tensor(prompt + answer)
        ids[row, : len(whole) - 1] = whole[:-1]
        targets[row, len(prompt) - 1 : len(whole) - 1] = whole[len(prompt) :]
    return Batch(ids, targets)


def reworded(text: str, rng: random.Random) -> str:
    """Small changes that people make when they type: case, missing mark at the end, a polite word."""
    if rng.random() < 0.1:
        text = rng.choice(("please: ", "Hi, ", "Hey! ", "So, ")) + text
    if rng.random() < 0.15:
        text = text.rstrip("?.")
    if rng.random() < 0.15:
        text = text.lower()
    return text


def draw(questions: list[Question], q: Question, chat: Chat, rng: random.Random) -> tuple[list[int], list[int]]:
    messages = []
    if rng.random() < 0.15:
        messages.append({"role": "system", "content": rng.choice(SYSTEM)})
    if rng.random() < 0.12:
        before = rng.choice(questions)
        messages.append({"role": "user", "content": rng.choice(before.train)})
        messages.append({"role": "assistant", "content": before.answer})
    messages.append({"role": "user", "content": reworded(rng.choice(q.train), rng)})
    return chat.prompt(messages, closed_think=rng.random() < 0.5), chat.answer(q.answer)


def batches(questions: list[Question], chat: Chat, size: int, seed: int) -> Iterator[Batch]:
    """Endless; each pass over the questions shuffles them, so all are seen equally often."""
    rng = random.Random(seed)
    waiting: list[Question] = []
    while True:
        while len(waiting) < size * POOL:
            waiting += rng.sample(questions, len(questions))
        pool = [draw(questions, q, chat, rng) for q in waiting[: size * POOL]]
        del waiting[: size * POOL]
        pool.sort(key=lambda e: len(e[0]) + len(e[1]))
        parts = [pool[i : i + size] for i in range(0, len(pool), size)]
        rng.shuffle(parts)
        yield from map(collate, parts)


def held_out(questions: list[Question], chat: Chat, closed_think: bool) -> Batch:
    return collate(
        [
            (chat.prompt([{"role": "user", "content": q.held_out}], closed_think), chat.answer(q.answer))
            for q in questions
        ]
    )
