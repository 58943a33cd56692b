"""Peak resident memory of this process."""

from __future__ import annotations

import resource
import sys
from contextlib import suppress
from pathlib import Path


def reset_peak() -> None:
    """Forget earlier peaks, where the system can (Linux)."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak_bytes() -> int:
    """Largest resident size since `reset_peak`, or since the start where it cannot reset."""
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    scale = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale
