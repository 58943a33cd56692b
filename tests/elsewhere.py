"""A stand-in for a device that is not the CPU: it computes here, and refuses what a device would.

Tensors that are there say that they are on "meta". They have numbers none the less, kept on the
CPU, and give them up only to `.cpu()`, `.item()` and the like: `.numpy()` is refused by torch, and
so is an operation that mixes them with tensors of the CPU. A kernel that takes only tensors of the
CPU therefore never sees one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map

NAME = "meta"
_aten = torch.ops.aten
# Devices copy from each other, and are indexed by tensors of the CPU.
_MAY_MIX = (_aten.copy_.default, _aten._to_copy.default, _aten.index.Tensor)


class There(torch.Tensor):
    """A tensor on the stand-in."""

    here: torch.Tensor
    is_meta = False  # or torch would not copy its numbers

    def tolist(self) -> Any:
        """Return the numbers; torch does not for subclasses."""
        return self.here.tolist()

    @staticmethod
    def __new__(cls, here: torch.Tensor) -> There:
        made = torch.Tensor._make_wrapper_subclass(
            cls, here.shape, here.stride(), here.storage_offset(), dtype=here.dtype, device=NAME
        )
        made.here = here
        return made

    @classmethod
    def __torch_dispatch__(cls, func: Any, _types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _run(func, args, kwargs or {})

    def __repr__(self) -> str:
        return f"There({self.here})"


class _Dispatch(TorchDispatchMode):
    def __torch_dispatch__(self, func: Any, _types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _run(func, args, kwargs or {})


class _Function(TorchFunctionMode):
    """`torch.tensor` makes no numbers for "meta": make them on the CPU and move them."""

    def __torch_function__(self, func: Any, _types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        if func in (torch.tensor, torch.as_tensor) and _is_there(kwargs.get("device")):
            del kwargs["device"]
            return func(*args, **kwargs).to(NAME)
        return func(*args, **kwargs)


@contextmanager
def elsewhere() -> Iterator[str]:
    """Have the stand-in; give its name."""
    with _Dispatch(), _Function():
        yield NAME


def _is_there(device: Any) -> bool:
    return device is not None and torch.device(device).type == NAME


def _run(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    given = [each for each in tree_flatten((args, kwargs))[0] if isinstance(each, torch.Tensor)]
    there = [each for each in given if isinstance(each, There)]
    mixed = [each for each in given if not isinstance(each, There) and each.ndim > 0]
    if there and mixed and func not in _MAY_MIX:
        raise RuntimeError(f"expected all tensors to be on the same device, in {func}")
    to_there = bool(there)
    if "device" in kwargs and kwargs["device"] is not None:
        to_there = _is_there(kwargs["device"])
        kwargs = {**kwargs, "device": torch.device("cpu")}
    elif func is _aten.copy_.default:
        to_there = isinstance(args[0], There)
    outer = {id(each.here): each for each in there}
    inner = tree_map(lambda each: each.here if isinstance(each, There) else each, (args, kwargs))
    result = func(*inner[0], **inner[1])
    if not to_there:
        return result

    def moved(each: Any) -> Any:
        if not isinstance(each, torch.Tensor):
            return each
        return outer[id(each)] if id(each) in outer else There(each)  # changed in place, or new

    return tree_map(moved, result)
