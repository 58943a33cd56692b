"""What results depend on besides the code."""

from __future__ import annotations

import platform

import numpy as np


def versions() -> dict[str, str]:
    """Return the versions that results depend on."""
    import numba
    import torch

    import pgnn

    return {
        "pgnn": pgnn.__version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": np.__version__,
        "numba": numba.__version__,
    }
