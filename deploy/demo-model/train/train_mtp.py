"""Trains the MTP layer on the finished trunk, frozen and rounded to FP8, by distillation from the trunk's own logits.

Usage: python train_mtp.py --work DIR [--steps N]   (after train.py, same folder)
Prints at the end how often draft 1, 1-2, 1-3 equal the trunk's own greedy choice on answers to held-out wordings,
and the same with the trunk's hidden replaced by zeros.
"""

import argparse
from pathlib import Path

import torch
import torch.multiprocessing as mp
import torch.nn.functional as F
from torch import Tensor

from data import IGNORED, Batch, batches, held_out
from layers import set_fp8
from model import Shape, Trunk
from mtp import DRAFTS, Mtp
from muon import optimizers
from parallel import Group
from questions import read_questions
from served import served_mtp, served_trunk
from train import FP8, QUESTIONS, rate, read_chat, save

TOKEN_DROPOUT = 0.5
WEIGHTS = (1.0, 0.8, 0.6)  # of the drafts' losses: the first is asked most often


def loss_of(trunk: Trunk, mtp: Mtp, batch: Batch) -> Tensor:
    """Cross entropy against the trunk's distribution, over rows whose drafted token belongs to the answer."""
    with torch.no_grad():
        hidden = trunk(batch.ids)
        target = trunk.logits(hidden).softmax(-1)
    loss = torch.zeros(())
    rows = batch.ids.shape[1] - DRAFTS
    for j, out in enumerate(mtp(trunk, batch.ids, hidden, TOKEN_DROPOUT), start=1):
        asked = batch.targets[:, j : j + rows] != IGNORED
        drafted = trunk.logits(out[asked]).log_softmax(-1)
        loss = loss - WEIGHTS[j - 1] * (target[:, j : j + rows][asked] * drafted).sum(-1).mean()
    return loss


@torch.no_grad()
def acceptance(trunk: Trunk, mtp: Mtp, batch: Batch, blind: bool = False) -> list[float]:
    """Per number of drafts, the share of answer rows where all drafts up to it equal the trunk's greedy tokens.

    Only answers that the trunk itself gives exactly are counted, so that the text is the trunk's own greedy text.
    """
    hidden = trunk(batch.ids)
    greedy = trunk.logits(hidden).argmax(-1)
    asked = batch.targets != IGNORED
    own = ~((greedy != batch.targets) & asked).any(1)
    rows = batch.ids.shape[1] - DRAFTS
    # Row t drafts the tokens after x[t+1]; it counts if all DRAFTS of them belong to the answer.
    counted = torch.stack([asked[:, j : j + rows] for j in range(DRAFTS + 1)]).all(0) & own[:, None]
    right, shares = counted, []
    for j, out in enumerate(mtp(trunk, batch.ids, torch.zeros_like(hidden) if blind else hidden), start=1):
        right = right & (trunk.logits(out).argmax(-1) == greedy[:, j : j + rows])
        shares.append((right.sum() / counted.sum()).item())
    return shares


def report(work: Path, batch: Batch) -> None:
    trunk, mtp = served_trunk(work), served_mtp(work)
    for name, blind in (("acceptance", False), ("with h zeroed", True)):
        shares = acceptance(trunk, mtp, batch, blind)
        print(name, " ".join(f"drafts 1..{j}: {s:.3f}" for j, s in enumerate(shares, start=1)), flush=True)


def train(rank: int, processes: int, work: Path, steps: int, size: int) -> None:
    group = Group(rank, processes)
    torch.manual_seed(11)
    questions = read_questions(QUESTIONS)
    chat = read_chat(work, questions)
    trunk = served_trunk(work)
    mtp = Mtp(Shape())
    opts = optimizers(mtp, group)
    source = batches(questions, chat, size // processes, seed=rank)
    for step in range(steps):
        set_fp8(mtp, step >= steps * (1 - FP8))
        for opt in opts:
            for options in opt.param_groups:
                options["lr"] = options["base"] * rate(step, steps)
            opt.zero_grad()
        loss = loss_of(trunk, mtp, next(source)) / processes
        loss.backward()
        group.sum_([p.grad for p in mtp.parameters()])
        for opt in opts:
            opt.step()
        if rank == 0 and (step + 1) % 20 == 0:
            print(f"step {step + 1} loss {loss.item() * processes:.4f}", flush=True)
    if rank == 0:
        save(work / "mtp.pt", {"model": mtp.state_dict(), "step": steps})
        report(work, held_out(questions, chat, closed_think=False))
    group.barrier()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=120)
    parser.add_argument("--batch", type=int, default=64, help="examples per step, over all processes")
    parser.add_argument("--processes", type=int, default=2)
    a = parser.parse_args()
    mp.start_processes(train, (a.processes, a.work, a.steps, a.batch), a.processes, start_method="spawn")
