"""Call every public function many times in one process; memory must not grow: `memory.py [N]`.

Writes what each took to `--results FILE`. A function passes if the resident memory after the last
call is hardly above that after the first quarter: caches fill up at first.
"""

import argparse
import contextlib
import gc
import io
import os
import sys
import tempfile
import time
import warnings
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
CALLS = 2000
SLOW = 50  # calls of functions that train or draw a page, in place of `CALLS`
SLOW_SECONDS = 0.02  # a call that takes longer is slow
GROWN = 4 << 20  # bytes, over three quarters of the calls


def resident():
    """Return the bytes of this process that are in memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def grown(function, arguments, count):
    """Call, and return how many bytes three quarters of the calls added, and the calls."""
    function(**arguments)  # compiles, and fills caches
    began = time.process_time()  # which other programs do not make longer
    function(**arguments)
    if time.process_time() - began > SLOW_SECONDS:
        count = min(count, SLOW)
    for _ in range(count // 4):
        function(**arguments)
    gc.collect()
    before = resident()
    for _ in range(count - count // 4):
        function(**arguments)
    gc.collect()
    return max(0, resident() - before), count


def main():
    """Print what grew; exit code 1 if anything did."""
    from calls import public_calls

    import fuzz

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("count", type=int, nargs="?", default=CALLS)
    parser.add_argument("--results", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    fuzz.urllib.request.urlopen = fuzz.refuse_network
    counts, growing = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, function, arguments) in enumerate(public_calls(Path(folder))):
            with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(ValueError):
                more, calls = grown(function, arguments, options.count)
                counts[f"{number} {name}"] = calls
                if more > GROWN:
                    growing[name] = more
    for name, more in growing.items():
        print(f"{name}: {more / 2**20:.1f} MiB more")
    most = sum(1 for calls in counts.values() if calls == options.count)
    print(f"memory: {len(counts)} calls of public functions, {most} of them {options.count} times")
    if options.results is not None:
        about = {"calls": options.count, "functions": len(counts), "called_so_often": most}
        about |= {"others_called": SLOW, "grew": growing, "versions": fuzz.versions()}
        about["command"] = f"python tests/fuzz/memory.py {options.count}"
        fuzz.keep("memory", about, options.results)
    return 1 if growing else 0


if __name__ == "__main__":
    sys.exit(main())
