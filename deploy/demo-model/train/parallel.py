"""Data parallelism over processes with one thread each: no barrier inside an operation, so that a busy machine's
scheduler costs little. Gradients and Muon's updates are summed once per step.
"""

import os

import torch
import torch.distributed as dist
from torch import Tensor


class Group:
    def __init__(self, rank: int, size: int):
        self.rank, self.size = rank, size
        torch.set_num_threads(1)
        if size > 1:
            os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
            os.environ.setdefault("MASTER_PORT", "29517")
            dist.init_process_group("gloo", rank=rank, world_size=size)

    def sum_(self, tensors: list[Tensor]) -> None:
        """Replaces each tensor by its sum over the processes, in one message."""
        if self.size == 1 or not tensors:
            return
        flat = torch.cat([t.reshape(-1) for t in tensors])
        dist.all_reduce(flat)
        for t, part in zip(tensors, flat.split([t.numel() for t in tensors])):
            t.copy_(part.view_as(t))

    def barrier(self) -> None:
        if self.size > 1:
            dist.barrier()
