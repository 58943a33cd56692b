"""Settings of the whole suite."""

from hypothesis import settings

# The first call of a kernel compiles it, so a deadline for one example would be a test of time.
settings.register_profile("pgnn", deadline=None, print_blob=True)
settings.load_profile("pgnn")
