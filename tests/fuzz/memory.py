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
import warnings
from pathlib import Path

import pgnn

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
CALLS = 2000
GROWN = 4 << 20  # bytes, over three quarters of the calls


def resident():
    """Return the bytes of this process that are in memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def grown(function, arguments, count):
    """Call, and return how many bytes three quarters of the calls added."""

    def call(times):
        for _ in range(times):
            with contextlib.suppress(pgnn.PGNNError):  # data sets that are not there
                function(**arguments)
        gc.collect()
        return resident()

    call(1)  # compiles, and fills caches
    before = call(count // 4)
    return max(0, call(count - count // 4) - before)


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
    growing = {}
    with tempfile.TemporaryDirectory() as folder:
        calls = public_calls(Path(folder))
        for number, (name, function, arguments) in enumerate(calls):
            print(f"\r{number} of {len(calls)}", end="", file=sys.stderr, flush=True)
            with contextlib.redirect_stdout(io.StringIO()):
                more = grown(function, arguments, options.count)
            if more > GROWN:
                growing[name] = more
    print(file=sys.stderr)
    for name, more in growing.items():
        print(f"{name}: {more / 2**20:.1f} MiB more")
    print(f"memory: {len(calls)} calls of public functions, {options.count} times each")
    if options.results is not None:
        about = {"calls": options.count, "functions": len(calls), "grew": growing}
        about["versions"] = fuzz.versions()
        about["command"] = f"python tests/fuzz/memory.py {options.count}"
        fuzz.keep("memory", about, options.results)
    return 1 if growing else 0


if __name__ == "__main__":
    sys.exit(main())
