"""Settings of the whole suite."""

import sys
from collections.abc import Iterator

import pytest
from hypothesis import settings

# The first call of a kernel compiles it, so a deadline for one example would be a test of time.
settings.register_profile("pgnn", deadline=None, print_blob=True)
settings.load_profile("pgnn")


@pytest.fixture(autouse=True)
def _torch_generator_stays() -> Iterator[None]:
    """Give torch's global generator back as it was; tests seed it to draw weights."""
    torch = sys.modules.get("torch")  # tests of the engine do without it
    state = None if torch is None else torch.get_rng_state()
    yield
    if torch is not None:
        torch.set_rng_state(state)
