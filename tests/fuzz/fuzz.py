"""Try many mutated inputs: `python tests/fuzz/fuzz.py files|arguments|runs|kills N`.

Cases run in child processes, so that one that ends the process, or never ends, is one finding and
not the end. Each finding is printed with its number; `--first NUMBER` with N = 1 does it again.
With `--results FILE` counts are kept there, and the next call goes on where this one was stopped.
"""

import argparse
import faulthandler
import functools
import hashlib
import json
import os
import platform
import resource
import select
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
KINDS = ("files", "arguments", "runs", "kills")
SECONDS = 60.0  # after which a case hangs; the first of a process loads and compiles
FIRST_SECONDS = 300.0
BYTES = 8 << 30  # of addresses a worker may have: what asks for more must be refused before
STEP = 100  # cases between two writes of the results


def work(kind, first, stop):
    """Do cases, one line before and one after each."""
    import cases
    import typer.main

    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    urllib.request.urlopen = refuse_network
    typer.main.get_command = functools.cache(typer.main.get_command)  # a third of a run's time
    lines = os.fdopen(os.dup(1), "w")  # what cases print goes nowhere
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # paths that a case makes up lead nowhere else
        cases.warm_up(kind, Path(folder))
        for number in range(first, stop):
            print(json.dumps([number, None]), file=lines, flush=True)
            outcome = cases.KINDS[kind](number, Path(folder))
            print(json.dumps([number, outcome]), file=lines, flush=True)


def refuse_network(*arguments, **options):
    """Stand where a download would: the fuzzer asks nobody."""
    raise urllib.error.URLError("the fuzzer has no network")


def run(kind, count, first=0, seconds=SECONDS, told=None):
    """Do cases in children; return how many ended how, and the findings by number.

    `told` is called now and then with the number of the next case and both.
    """
    tally, findings = Counter(), {}
    number, stop = first, first + count
    while number < stop:
        command = [sys.executable, str(HERE / "fuzz.py"), kind, str(stop - number)]
        command += ["--first", str(number), "--worker"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
            number, ended = _watch(child, number, stop, tally, findings, seconds, told)
        if ended is not None and number < stop:
            tally[ended.split(":")[0]] += 1
            findings[number] = ended
            number += 1
    return tally, findings


def _watch(child, number, stop, tally, findings, seconds, told):
    """Read a child's lines; return where it stopped, and how if it was not the end."""
    limit, pending = FIRST_SECONDS, b""
    os.set_blocking(child.stderr.fileno(), False)
    errors = b""
    while True:
        waited = 0.0
        while b"\n" not in pending:
            before = time.monotonic()
            ready, _, _ = select.select([child.stdout, child.stderr], [], [], 1.0)
            waited += min(1.0, time.monotonic() - before)  # not while both were stopped
            if child.stderr in ready:
                errors = (errors + (child.stderr.read() or b""))[:4000]  # faulthandler's first
            if child.stdout in ready:
                part = os.read(child.stdout.fileno(), 1 << 16)
                if not part:
                    child.wait()
                    if number >= stop:
                        return number, None
                    text = (errors + (child.stderr.read() or b"")).decode(errors="replace")
                    return number, f"crash: exit {child.returncode}: {text[:1500]}"
                pending += part
            if waited > limit:
                child.kill()
                child.wait()
                return number, f"hang: more than {limit:.0f} s"
        line, _, pending = pending.partition(b"\n")
        number, outcome = json.loads(line)
        if outcome is None:
            continue
        limit, errors = seconds, b""
        clear = outcome in ("ok", "refused")
        tally[outcome if clear else "traceback"] += 1
        if not clear:
            findings[number] = outcome
        number += 1
        if told is not None and number % STEP == 0:
            told(number, tally, findings)


SHARES = {"train": 0.3, "embed": 0.2, "predict": 0.2, "report": 0.1, "reproduce": 0.2}
KILLS = 50  # of one process that has loaded everything


def kills(count, path):
    """Kill commands in the middle of their writes; keep what was left. Returns what was wrong."""
    results = json.loads(path.read_text()) if path is not None and path.exists() else {}
    about = results.get("kills", {})
    if about.get("versions") != versions():
        about = {"tried": {}, "killed": {}, "seconds": 0.0, "wrong": [], "versions": versions()}
    about["command"] = f"python tests/fuzz/fuzz.py kills {10 * count}"
    about["seed"] = f"the number of kills tried before, for each {KILLS}"
    for what, share in SHARES.items():
        while (killed := about["killed"].get(what, 0)) < round(share * count):
            tried, began = about["tried"].get(what, 0), time.monotonic()
            number = min(KILLS, round(share * count) - killed)
            left = kill_some(what, seed=tried, count=number)
            about["tried"][what] = tried + number
            about["killed"][what] = killed + left.get("killed", 0)  # the others had ended
            about["seconds"] = round(about["seconds"] + time.monotonic() - began, 1)
            bad = [left.get(key) for key in ("error", "broken", "neither", "litter")]
            if any(bad) or left.get("same") is False:
                about["wrong"].append({"what": what, "seed": tried, "count": number, **left})
            if "error" in left:
                return about
            if path is not None:
                keep("kills", about, path)
    return about


def kill_some(what, *, seed, count):
    """Kill one command some times, in a folder of its own; say what was left."""
    from cli_helpers import TRAINED_WITH, write_graph

    with tempfile.TemporaryDirectory() as folder:
        write_graph(Path(folder))
        if what in ("embed", "predict", "report"):
            made = [sys.executable, "-m", "pgnn", "train", "edges.csv", "--out", "run"]
            made += [*map(str, TRAINED_WITH), "--json"]
            subprocess.run(made, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        script = str(HERE.parent / "kill_commands.py")
        command = [sys.executable, script, what, folder, str(seed), str(count)]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
    return json.loads(ended.stdout) if ended.returncode == 0 else {"error": ended.stderr[-500:]}


# ---------------------------------------------------------------------- what is kept


def go_on(kind, count, path):
    """Do the cases of a kind that a file of results lacks; write it every few; return findings."""
    results = json.loads(path.read_text()) if path.exists() else {}
    about = results.get(kind, {})
    if about.get("versions") != versions():
        about = {"cases": 0, "seconds": 0.0, "ended": {}, "findings": {}, "versions": versions()}
    about["command"] = f"make fuzz N={count}"
    about["seed"] = f"its number, 0 to {count - 1}, for each case"
    before, began, first = dict(about), time.monotonic(), about["cases"]

    def told(number, tally, findings):
        about["cases"] = number
        about["seconds"] = round(before["seconds"] + time.monotonic() - began, 1)
        about["ended"] = dict(Counter(before["ended"]) + tally)
        about["findings"] = before["findings"] | {str(n): text for n, text in findings.items()}
        keep(kind, about, path)

    if first < count:
        tally, findings = run(kind, count - first, first, told=told)
        told(count, tally, findings)
    for number, outcome in about["findings"].items():
        print(f"{kind} {number}: {outcome}")
    return about


def keep(kind, about, path):
    """Write what is known of one kind beside that of the others."""
    results = json.loads(path.read_text()) if path.exists() else {}
    hidden = path.with_suffix(".tmp")
    hidden.write_text(json.dumps({**results, kind: about}, indent=1) + "\n")
    os.replace(hidden, path)


def versions():
    """Return what ran: a case that passed once may not with another version."""
    from importlib.metadata import version

    from pgnn.version import __version__

    libraries = ("numpy", "scipy", "numba", "polars", "torch", "networkx", "scikit-learn")
    known = {"pgnn": __version__, "source": source(), "python": platform.python_version()}
    return known | {name: version(name) for name in libraries}


def source():
    """Return a few digits of the hash of all code of the package."""
    digest = hashlib.sha256()
    for path in sorted((HERE.parents[1] / "src" / "pgnn").rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def main():
    """Print how cases ended; exit code 1 if there were findings."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("count", type=int)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--results", type=Path, help="where counts are kept and gone on from")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(options.kind, options.first, options.first + options.count)
        return 0
    if options.kind == "kills":
        about = kills(max(10, options.count // 10), options.results)
        for wrong in about["wrong"]:
            print(f"kills: {json.dumps(wrong)}")
        of = ", ".join(f"{number} of {what}" for what, number in about["killed"].items())
        print(f"kills: {sum(about['killed'].values())} ({of}) in {about['seconds']:.0f} s")
        return 1 if about["wrong"] else 0
    began = time.monotonic()
    if options.results is not None:
        about = go_on(options.kind, options.count, options.results)
        tally, findings, seconds = about["ended"], about["findings"], about["seconds"]
    else:
        tally, findings = run(options.kind, options.count, options.first)
        seconds = time.monotonic() - began
        for number, outcome in findings.items():
            print(f"{options.kind} {number}: {outcome}")
    counts = ", ".join(f"{count} {name}" for name, count in sorted(tally.items()))
    print(f"{options.kind}: {options.count} cases in {seconds:.0f} s: {counts}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
