"""Ctrl-C in the middle of long searches: `interrupt.py [--nodes N]`, seconds until each answers.

Each search runs in a process of its own, which says when it begins; the signal comes a while later.
"""

import argparse
import signal
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
SEARCHES = {
    "hops": "pgnn.anchor_distances(graph, sets)",
    "hops of a grid": "pgnn.anchor_distances(grid, sets)",
    "lengths": "pgnn.anchor_distances(weighted, sets)",
    "pagerank": "pgnn.anchor_ppr(graph, sets)",
    "pairs": "pgnn.pair_proximities(graph, rng.integers(0, n, (200_000, 2)))",
    "best pairs": "candidate_pairs(graph)",
    "nearest embeddings": "candidate_pairs(graph, embedding)",
}
AFTER = (0.3, 1.0, 2.0)  # seconds until the signal; a search that has ended before is None
SCRIPT = """
import signal, sys
import numpy as np
import pgnn
from pgnn.prediction.candidates import candidate_pairs
n, rng = int(sys.argv[1]), np.random.default_rng(0)
small = pgnn.Graph.from_edges(rng.integers(0, 500, (2000, 2)), 500, weights=rng.random(2000) + 0.5)
few = pgnn.sample_anchor_sets(500, num_sets=16, rng=0)
pgnn.anchor_distances(small, few); pgnn.anchor_ppr(small, few)  # compiled before the clock runs
embedding = rng.standard_normal((n, 16), dtype=np.float32)
edges = rng.integers(0, n, (5 * n, 2))
graph = weighted = grid = pgnn.Graph.from_edges(edges, n)
if "weighted" in sys.argv[2]:
    weighted = pgnn.Graph.from_edges(edges, n, weights=rng.random(len(edges)) + 0.5)
if "grid" in sys.argv[2]:
    grid = pgnn.datasets.grid(n // 100, 100)
sets = pgnn.sample_anchor_sets(n, num_sets=256, rng=0)
signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in the background ignore it
print("began", flush=True)
try:
    exec(sys.argv[2])
    print("ended", flush=True)
except KeyboardInterrupt:
    print("stopped", flush=True)
"""


def answer(search, nodes, after):
    """Return the seconds from Ctrl-C to the answer, and to the end of the process.

    None if the search ended before. Threads finish the block that they are at, so a process that
    does nothing else ends after them; commands of pgnn do not wait.
    """
    command = [sys.executable, "-c", SCRIPT, str(nodes), search]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout.readline() == "began\n"
        time.sleep(after)
        child.send_signal(signal.SIGINT)
        sent = time.monotonic()
        said = child.stdout.readline()
        answered = time.monotonic() - sent
        child.wait()
        ended = time.monotonic() - sent
        return (round(answered, 2), round(ended, 2)) if said == "stopped\n" else None


def main():
    """Print and keep the seconds of each; exit code 1 if one took more than a second."""
    import fuzz

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--results", type=Path)
    options = parser.parse_args()
    seconds = {}
    for name, search in SEARCHES.items():
        seconds[name] = [answer(search, options.nodes, after) for after in AFTER]
        print(f"{name}: {seconds[name]}", flush=True)
    if options.results is not None:
        about = {"nodes": options.nodes, "signal_after": AFTER, "seconds": seconds}
        about["versions"] = fuzz.versions()
        about["command"] = f"python tests/fuzz/interrupt.py --nodes {options.nodes}"
        fuzz.keep("interrupt", about, options.results)
    times = [each for several in seconds.values() for each in several if each is not None]
    answered, ended = map(max, zip(*times, strict=True))
    print(f"interrupt: {len(times)} answers in at most {answered} s, ends in at most {ended} s")
    return 1 if answered > 1 else 0


if __name__ == "__main__":
    sys.exit(main())
