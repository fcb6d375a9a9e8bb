"""Trains the demo model's trunk. Resumable: a snapshot in --work holds weights, optimizers, step and log.

Usage: python train.py --work DIR [--steps N] [--batch N] [--processes N]
"""

import argparse
import time
from pathlib import Path

import torch
import torch.multiprocessing as mp
import torch.nn.functional as F

from chat import Chat
from data import IGNORED, Batch, batches, held_out
from evaluate import exact_matches
from layers import set_fp8
from model import Shape, Trunk
from muon import optimizers
from parallel import Group
from questions import Question, read_questions
from tokenizer import load_or_train

QUESTIONS = Path(__file__).parent.parent / "questions"
WARMUP = 20  # steps
DECAY = 0.5  # the last half lowers the rate to zero
FP8 = 0.1  # the last tenth trains on weights rounded to FP8


def rate(step: int, steps: int) -> float:
    """Factor on the base rates: linear warm-up, constant, linear decay."""
    return min((step + 1) / WARMUP, 1.0, (steps - step) / (steps * DECAY))


def save(path: Path, snapshot: dict) -> None:
    """Written beside and renamed, so that a cut-off write never damages the last good snapshot."""
    beside = path.with_suffix(".new")
    torch.save(snapshot, beside)
    beside.replace(path)


def loss_of(model: Trunk, batch: Batch) -> torch.Tensor:
    asked = batch.targets != IGNORED
    return F.cross_entropy(model.logits(model(batch.ids)[asked]), batch.targets[asked])


def read_chat(work: Path, questions: list[Question]) -> Chat:
    """The tokenizer learns from what the trunk is trained on, never from held-out wordings."""
    return Chat(load_or_train(work / "tokenizer.json", [t for q in questions for t in (*q.train, q.answer)]))


def train(group: Group, work: Path, steps: int, size: int, every: int) -> None:
    torch.manual_seed(7)
    questions = read_questions(QUESTIONS)
    chat = read_chat(work, questions)
    model = Trunk(Shape())
    opts = optimizers(model, group)
    path, step = work / "trunk.pt", 0
    if path.exists():
        snapshot = torch.load(path)
        model.load_state_dict(snapshot["model"])
        for opt, state in zip(opts, snapshot["optimizers"]):
            opt.load_state_dict(state)
        step = snapshot["step"]
        print(f"resumed at step {step}", flush=True)
    group.barrier()

    source = batches(questions, chat, size // group.size, seed=step * group.size + group.rank)
    check = held_out(questions, chat, closed_think=False)
    begun = time.time()
    while step < steps:
        set_fp8(model, step >= steps * (1 - FP8))
        for opt in opts:
            for options in opt.param_groups:
                options["lr"] = options["base"] * rate(step, steps)
            opt.zero_grad()
        loss = loss_of(model, next(source)) / group.size
        loss.backward()
        group.sum_([p.grad for p in model.parameters()])
        for opt in opts:
            opt.step()
        step += 1
        if group.rank == 0 and step % 10 == 0:
            print(f"step {step} loss {loss.item() * group.size:.4f} {time.time() - begun:.0f} s", flush=True)
        if group.rank == 0 and (step % every == 0 or step == steps):
            right = exact_matches(model, check).float().mean().item()
            print(f"step {step} held-out exact match {right:.3f}", flush=True)
            states = [opt.state_dict() for opt in opts]
            save(path, {"model": model.state_dict(), "optimizers": states, "step": step, "held_out": right})


def start(rank: int, processes: int, *arguments) -> None:
    train(Group(rank, processes), *arguments)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, required=True, help="folder for snapshots, outside the repository")
    parser.add_argument("--steps", type=int, default=450)
    parser.add_argument("--batch", type=int, default=64, help="examples per step, over all processes")
    parser.add_argument("--every", type=int, default=50, help="steps between held-out checks and snapshots")
    parser.add_argument("--processes", type=int, default=2)
    a = parser.parse_args()
    a.work.mkdir(parents=True, exist_ok=True)
    read_chat(a.work, read_questions(QUESTIONS))  # made once, before the processes read it
    mp.start_processes(start, (a.processes, a.work, a.steps, a.batch, a.every), a.processes, start_method="spawn")
