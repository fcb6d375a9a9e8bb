"""The reference as an engine holds it: which matrices lie in which type, and other products in place of its own."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MethodType

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers.models.gpt_oss.modeling_gpt_oss import GptOssExperts

import gguf_files
import gguf_fixtures
import quark
from checkpoint import make_tensors, reference_values
from experts import stacked
from fixture import Fixture
from reference import build, load
from weights import of_tower

# As what matrices of GGUF are held, but for blocks of codes.
HELD_GGUF = {"F32": torch.bfloat16, "BF16": torch.bfloat16, "F16": torch.float16}

Product = Callable[[Tensor], Tensor]


def halved(x: Tensor) -> Tensor:
    return x.bfloat16().float()


@dataclass
class Held:
    model: nn.Module
    tensors: dict[str, Tensor]  # as the checkpoint stores them
    dtypes: dict[str, torch.dtype]

    @staticmethod
    def of(fixture: Fixture) -> "Held":
        model = build(fixture.config)
        shapes = {n: t.shape for n, t in model.state_dict().items() if fixture.vision or not of_tower(n)}
        tensors = make_tensors(fixture, shapes)
        if fixture.name in gguf_fixtures.FIXTURES:
            values, dtypes = of_gguf(fixture, tensors)
        else:
            values, tensors = reference_values(fixture, tensors), quark.in_e4m3(tensors)
            dtypes = {n: t.dtype for n, t in tensors.items()}
        load(model, values)
        model.set_experts_implementation("eager")
        for module in model.modules():
            if isinstance(module, GptOssExperts):
                module.forward = MethodType(run_by_linear, module)
        return Held(model, tensors, dtypes)

    def matrices(self) -> dict[str, nn.Parameter]:
        return {n: p for n, p in self.model.named_parameters() if p.ndim > 1 and not n.endswith("bias")}

    def types_beside(self, name: str) -> set[torch.dtype]:
        """Of the parameter's matrices: experts are stacked in the reference, and stored apart."""
        stack = name.partition(".experts.")[0] + ".experts." if ".experts." in name else name.removesuffix("weight")
        return {dtype for n, dtype in self.dtypes.items() if n.startswith(stack) and "scale" not in n and not n.endswith("bias")}

    @contextmanager
    def multiplied(self, times: Callable[[int, Tensor, Tensor], Tensor]) -> Iterator[None]:
        """x · weightᵀ is times(place_of(weight), x, weight) meanwhile, by whatever matrices do in the model."""
        exact, met = functional.linear, set()

        def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
            met.add(place_of(weight))
            out = times(place_of(weight), x, weight)
            return out if bias is None else out + bias

        functional.linear = linear
        try:
            yield
        finally:
            functional.linear = exact
        unmet = [
            n for n, p in self.matrices().items() if "proj" in n and not of_tower(n) and place_of(p) not in met
        ]
        if unmet:
            raise ValueError(f"these were multiplied elsewhere: {unmet}")


def run_by_linear(experts: GptOssExperts, x: Tensor, ids: Tensor, weights: Tensor) -> Tensor:
    """What the experts do, through functional.linear: theirs multiply otherwise."""
    out = torch.zeros_like(x)
    for expert in range(experts.num_experts):
        rows, places = torch.where(ids == expert)
        wide = functional.linear(x[rows], experts.gate_up_proj[expert].T, experts.gate_up_proj_bias[expert])
        y = functional.linear(experts._apply_gate(wide), experts.down_proj[expert].T, experts.down_proj_bias[expert])
        out.index_add_(0, rows, y * weights[rows, places, None])
    return out


def place_of(weight: Tensor) -> int:
    """The same for a parameter and what is cut from it."""
    return weight.untyped_storage().data_ptr()


def of_gguf(fixture: Fixture, tensors: dict[str, Tensor]) -> tuple[dict[str, Tensor], dict[str, torch.dtype]]:
    """The reference's values, and as what a matrix is held: those in float32 as bfloat16, blocks as codes of a byte."""
    with TemporaryDirectory() as folder:
        values = gguf_files.write(fixture.name, tensors, Path(folder))
    types = gguf_files.stored_types(fixture.name, tensors)
    matrices = {n for n, value in values.items() if value.ndim == 2 and not n.endswith("bias")}
    single = {n for n in matrices if types[n] == "F32"}
    multiplied = matrices | {n for n, value in values.items() if value.ndim == 3 and ".experts." in n}
    dtypes = {n: HELD_GGUF.get(types[n], torch.int8) for n in multiplied}
    return stacked({n: halved(value) if n in single else value for n, value in values.items()}), dtypes
