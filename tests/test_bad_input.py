"""Bad input: one line that says what to do, exit code 2, and nothing left behind."""

import gzip
import json
import os
import shlex

import pytest

from cli_helpers import listing

HEAD = "source,target\n"
FEW = "--epochs 2 --sets 4 --threads 1"


def graph(name, text, message, options="", **files):
    """A bad graph file, to be trained on."""
    return pytest.param(f"train bad.csv {options}", message, {"bad.csv": text, **files}, id=name)


def option(arguments, message, name=None, **files):
    """Bad options on a good graph."""
    return pytest.param(arguments, message, files, id=name or arguments)


def damaged(name, arguments, message, change):
    """A run directory or something else that was changed by a function of the folder."""
    return pytest.param(arguments, message, change, id=name)


def rows(*lines, header=HEAD):
    return header + "".join(f"{line}\n" for line in lines)


def complete(size):
    return rows(*(f"{u},{v}" for u in range(size) for v in range(u)))


RING = rows(*(f"{v},{(v + 1) % 12}" for v in range(12)))
WEIGHT = "source,target,weight\n"

GRAPH_FILES = [
    option("train Grid", "Grid: there is no such file, and no such data set"),
    option("train [red]grid", "[red]grid: there is no such file, and no such data set"),
    option("train nosuch.csv", "no such file, and no such data set (grid, communities"),
    option("evaluate run nosuch.csv", "nosuch.csv"),
    option("embed run nosuch.csv -o z.csv", "nosuch.csv"),
    option("predict run nosuch.csv", "nosuch.csv"),
    option("train .", "is a folder; give the path of a file"),
    option(f"train {'x' * 300}", "File name too long", "long name"),
    graph("empty file", "", "bad.csv: "),
    graph("blank lines only", "\n\n", "bad.csv: "),
    graph("header only", HEAD, "header"),
    graph("one column", "a\nb\nc\n", "needs at least 2 columns"),
    graph("ragged line", rows("a,b", "c"), "line 3: has 1 field"),
    graph("too many fields", rows("a,b", "c,d,e"), "line 3: has 3 fields"),
    graph("missing id", rows("a,b", "c,"), "line 3: the target id is missing"),
    graph("stray quote", rows('a,b"c', "c,d"), "stray quote"),
    graph("self-loops only", rows("a,a", "b,b"), "too few"),
    graph("weight is a word", rows("a,b,far", header=WEIGHT), "ignore weights with"),
    graph("weight is negative", rows("a,b,-1", header=WEIGHT), "weight is '-1'"),
    graph("weight is zero", rows("a,b,0", header=WEIGHT), "weights must be positive"),
    graph("weight is infinite", rows("a,b,inf", header=WEIGHT), "weight is 'inf'"),
    graph("weight is nan", rows("a,b,nan", header=WEIGHT), "weight is 'nan'"),
    graph("weight is missing", rows("a,b,", header=WEIGHT), "weight is ''"),
    graph("two edges", rows("a,b", "b,c"), "too dense"),
    graph("complete graph", complete(8), "pairs"),
    graph("complete graph of two-way edges", complete(5), "pairs", "--directed"),
    graph("binary file", bytes(range(256)) * 9, "bad.csv"),
    graph("not UTF-8", b"source,target\nM\xfcller,b\n", "UTF-8"),
    option("train e.csv.gz", "e.csv.gz: ", **{"e.csv.gz": b"no gzip"}),
    option("train cut.csv.gz", "cut.csv.gz: ", **{"cut.csv.gz": gzip.compress(b"a,b\n" * 99)[:-9]}),
    option("train e.parquet", "cannot be read as parquet", **{"e.parquet": b"PAR1 no parquet"}),
    option("train e.npz", "scipy.sparse.save_npz", **{"e.npz": b"PK no npz"}),
    option("train e.graphml", "cannot be read as GraphML", **{"e.graphml": "<graphml><node"}),
    option("train e.npz --source 0 --target 1", "are for tables",
           **{"e.npz": b""}),
]  # fmt: skip

COLUMNS = [
    option("train edges.csv --source a --target b", "'a' does not exist"),
    option("train edges.csv --source 0 --target 7", "7, but there are 2 columns"),
    option("train edges.csv --source 0 --target 0", "--source and --target are both"),
    option("train edges.csv --source source", "belong together"),
    option("train edges.csv --weight w", "'w' does not exist"),
    option("train edges.csv --no-header --weight w", "give a position from 0 to 1"),
    option("train edges.csv --label team", "features too"),
    option("train edges.csv --id-column id", "features too"),
    option("train edges.csv --features nosuch.csv", "nosuch.csv"),
    option("train edges.csv --features nodes.csv --feature-columns nosuch", "does not exist"),
    option("train edges.csv --features nodes.csv --feature-columns id", "holds ids or labels"),
    option("train edges.csv --feature-columns team", "features too"),
    option("train edges.csv --time nosuch", "column --time='nosuch' does not exist"),
    option("train edges.csv --test-from 2024", "--test-from needs --time COLUMN"),
    option("train edges.csv --features nodes.csv --label nosuch", "'nosuch' does not exist"),
    option("train edges.csv --features nodes.csv --id-column 9", "9, but there are 4"),
    graph("nodes without features", RING, "no row for any of the 12 nodes", "--features x.csv",
          **{"x.csv": "id,size\nx,0.5\ny,0.5\n"}),
    graph("node with two rows", RING, "row", "--features x.csv",
          **{"x.csv": "id,size\n1,0.5\n1,0.6\n"}),
]  # fmt: skip


def labels(*names):
    return {"y.csv": rows(*(f"{v},{names[v % len(names)]}" for v in range(12)), header="id,team\n")}


PAIR = "--task pair --features y.csv --label team"
TASKS = [
    option("train edges.csv --task pair", "give "),
    graph("one label only", RING, "at least two classes", PAIR, **labels("a")),
    graph("no two of one label", RING, "no two nodes", PAIR, **labels(*range(12))),
    option("train edges.csv --task nosuch", "task must be one of link, pair"),
    option("train edges.csv --model nosuch", "--model must be one of gcn, sage"),
    option("train edges.csv --decoder nosuch", "decoder must be one of distance, dot"),
    option("train edges.csv --weights nosuch", "weights must be one of length, strength"),
    option("train edges.csv --device nosuch", "use cpu"),
    option("train edges.csv --device meta", "use cpu"),
    option("train grid --device nosuch", "use cpu"),
    option("train edges.csv --dropout 1", "dropout must be at least 0 and below 1"),
    option("train edges.csv --dropout nan", "--dropout must be a finite number"),
    option("train edges.csv --lr 0", "lr must be positive"),
    option("train edges.csv --lr -0.1", "lr must be positive"),
    option("train edges.csv --lr nan", "--lr must be a finite number"),
    option("train edges.csv --lr inf", "--lr must be a finite number"),
    option("train edges.csv --lr fast", "'--lr'"),
    option("train edges.csv --val 0.6 --test 0.4", "both together below 1"),
    option("train edges.csv --val 0", "val must be positive"),
    option("train edges.csv --val nan", "--val must be a finite number"),
    option("train edges.csv --folds 1", "folds must be 0 or at least 2"),
    option("train edges.csv --seed -1", "'--seed'"),
    option(f"train grid --seed {2**64}", "'--seed'"),
    option("train edges.csv --threads 0", "'--threads'"),
    option("train edges.csv --epochs 0", "epochs must be "),
    option("train edges.csv --epochs 1.5", "'--epochs'"),
    option("train edges.csv --sets 0", "sets must be "),
    option("train edges.csv --patience 0", "patience must be "),
    option("train edges.csv --hidden-channels 0", "channels must be "),
    option("train edges.csv --hidden-channels 99999999999", "--hidden-channels must be at most"),
    option("train edges.csv --nosuch", "no such option: --nosuch"),
    option("train edges.csv --epochs", "requires an argument"),
    option("train edges.csv more.csv", "unexpected extra argument"),
    option("train", "missing argument 'GRAPH_OR_DATASET'; see `pgnn train --help`"),
    option("nosuch", "no such command 'nosuch'; see `pgnn --help`"),
    option("train edges.csv --protocol paper", "--protocol is for the data sets of the paper"),
    option("train edges.csv --one-hot", "--one-hot is for the data sets"),
    option("train grid --sets 3", "--sets is for your own graph"),
    option("train grid --features nodes.csv", "--features is for your own graph"),
    option("train grid --directed", "--directed is for your own graph"),
    option("train grid --task pair", "the paper has no such experiment; it has grid"),
    option("train grid --task nosuch", "task must be one of link, pair"),
    option("train grid --model nosuch", "--model must be one of gcn, sage"),
    option("train grid --model P-GNN-E-2L", "model must be one of"),
    option("train grid --epochs 0", "epochs must be "),
    option("train email", "the paper has no such experiment; it has grid"),
    option("train ppi --one-hot", "the paper has no such experiment"),
    option("train communities --task pair --one-hot", "the paper has no such experiment"),
    option("train grid --protocol nosuch --out new", "--protocol must be one of paper, released"),
    option("train grid --resume", "resume needs "),
    option("train --resume", "missing argument 'GRAPH_OR_DATASET'"),
    option("train --resume --out nosuch", "nosuch/config.toml: there is no such file"),
    option("train --resume --out run --lr 0.5", "--lr 0.5 is not what the run began with"),
    option("train email --task pair --data-dir nosuch --out new", "--data-dir must be a folder"),
]  # fmt: skip

OUTPUT = [
    option("train edges.csv --out nodes.csv", "nodes.csv: is not a folder"),
    option("train grid --out nodes.csv", "nodes.csv: is not a folder"),
    option("train edges.csv --out nodes.csv/deep", "is not a folder"),
    option("train edges.csv --out run", "holds a finished run; give another "),
    option("train grid --out run", "holds a finished run; give another "),
    option(f"train edges.csv --out run --resume --seed 5 {FEW}", "--sets 4 is not what the run"),
    option("train ring.csv --out run --resume", "other settings, data or seed",
           **{"ring.csv": RING}),
    option("train edges.csv --tensorboard nodes.csv --epochs 1 --sets 4", "nodes.csv: is a file"),
    option("embed run edges.csv", "-o embeddings.parquet"),
    option("embed run edges.csv -o z.txt", "must end in .csv, .csv.gz, .parquet, .npz"),
    option("embed run edges.csv -o nosuch/z.csv", "nosuch does not exist; create it first"),
    option("embed run edges.csv -o run.csv", "is a folder; give the name of a file",
           **{"run.csv/x": ""}),
    option("predict run edges.csv -o z.xlsx", "must end in .csv"),
    option("predict run edges.csv -o nosuch/z.csv", "create it first"),
    option("report run -o nosuch/r.html", "create it first"),
    option("report run -o run", "is a folder; give the name of a file"),
]  # fmt: skip

QUESTIONS = [
    option("evaluate", "missing argument 'RUN'"),
    option("evaluate run", "missing argument 'GRAPH'"),
    option("predict run edges.csv --node nosuch", "has no node 'nosuch' (its ids are like"),
    option("predict run edges.csv --node [red]", "has no node '[red]'"),
    option("predict run edges.csv --top 0", "'--top'"),
    option("embed run edges.csv -o z.csv --draw -1", "'--draw'"),
    option("report run --top 0", "'--top'"),
    option("evaluate run edges.csv --share 0", "--share must be "),
    option("evaluate run edges.csv --share nan", "--share must be "),
    option("evaluate run edges.csv --pairs nosuch.csv", "nosuch.csv"),
    option("evaluate run edges.csv --pairs p.csv", "has no node 'zz'", "pair with unknown id",
           **{"p.csv": rows("n0,zz")}),
    option("evaluate run edges.csv --pairs p.csv", "must be 0 or 1", "pair with a bad label",
           **{"p.csv": rows("n0,n1,yes", "n0,n2,0", header="source,target,label\n")}),
    option("evaluate run edges.csv --pairs p.csv", "holds no pairs", "no pairs",
           **{"p.csv": HEAD}),
    option("evaluate run edges.csv --pairs p.csv", "p.csv: ", "empty file of pairs",
           **{"p.csv": ""}),
    option("evaluate run edges.csv --pairs p.csv", "two different nodes", "pair of one node",
           **{"p.csv": rows("n0,n0")}),
    option("evaluate run edges.csv --pairs edges.csv", "edges of the graph are among the pairs"),
    option("evaluate teams edges.csv --pairs p.csv", "need a label column", "pairs, no labels",
           **{"p.csv": rows("n0,n1")}),
    option("evaluate run edges.csv --pairs p.csv", "both", "pairs of one kind",
           **{"p.csv": rows("n0,n1,1", "n0,n2,1", header="source,target,label\n")}),
    option("evaluate teams ring.csv", "give ",
           **{"ring.csv": RING}),
    option("embed teams ring.csv -o z.csv", "as --features", **{"ring.csv": RING}),
    option("predict teams edges.csv --features x.csv --label team", "has no column",
           "wrong number of features",
           **{"x.csv": rows(*(f"n{v},1,a" for v in range(24)), header="id,size,team\n")}),
]  # fmt: skip


def no_file(name):
    return lambda folder, _: (folder / name).unlink()


def text_in(name, text):
    return lambda folder, _: (folder / name).write_bytes(text)


def cut(name):
    def change(folder, _):
        data = (folder / name).read_bytes()
        (folder / name).write_bytes(data[: len(data) // 2])

    return change


def newer(folder, _):
    path = folder / "run" / "metrics.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "format": 99}))


def unfinished(*, whole):
    """Leave a checkpoint alone in the run directory, whole or cut off."""

    def change(folder, _):
        for path in (folder / "run").iterdir():
            if path.name != "checkpoint.safetensors":
                path.unlink()
        if not whole:
            cut("run/checkpoint.safetensors")(folder, None)

    return change


def read_only(folder, _):
    (folder / "shut").mkdir(mode=0o555)


ASK = "predict run edges.csv"
RUNS = [
    option("predict nosuch edges.csv", "there is no such run directory"),
    option("report nosuch", "there is no such run directory"),
    option("predict edges.csv edges.csv", "edges.csv: there is no such run directory"),
    option("predict other edges.csv", "is no run directory", **{"other/file": ""}),
    option("report other", "is no run directory", **{"other/file": ""}),
    option("report other", "run `pgnn reproduce` first", "results without records",
           **{"other/reproduction.jsonl": ""}),
    damaged("unfinished run", ASK, "is not finished (it has no metrics.json); resume",
            unfinished(whole=True)),
    damaged("resume with a damaged checkpoint", f"train edges.csv --out run --resume {FEW}",
            "checkpoint is damaged", unfinished(whole=False)),
    damaged("metrics cut", ASK, "is damaged", cut("run/metrics.json")),
    damaged("metrics without format", ASK, "is damaged", text_in("run/metrics.json", b"{}")),
    damaged("newer format", ASK, "newer than 2; update pgnn", newer),
    damaged("model cut", ASK, "train anew", cut("run/model.safetensors")),
    damaged("model lost", ASK, "train anew", no_file("run/model.safetensors")),
    damaged("graph cut", "report run", "train anew", cut("run/graph.npz")),
    damaged("config is no TOML", ASK, "is damaged", text_in("run/config.toml", b"=")),
    damaged("config lost", ASK, "is damaged", no_file("run/config.toml")),
    damaged("history is text", ASK, "is damaged", text_in("run/history.csv", b"epoch\nx\n")),
    damaged("no permission to embed", "embed run edges.csv -o shut/z.csv", "shut/z.csv", read_only),
    damaged("no permission to train", f"train edges.csv --out shut/run {FEW}", "shut/run",
            read_only),
]  # fmt: skip


def config(name, text, message, arguments="train edges.csv --config c.toml"):
    return pytest.param(arguments, message, {"c.toml": text}, id=f"config: {name}")


CONFIG = [
    option("train edges.csv --config nosuch.toml", "nosuch.toml: cannot be read"),
    option("train edges.csv --config run", "run: cannot be read"),
    config("not TOML", "epochs: 3", "c.toml: is not TOML"),
    config("not UTF-8", b"\xff\xfe", "c.toml: cannot be read"),
    config("no table", "epochs = 3", "has no table [train]"),
    config("another command's table", "[predict]\ntop = 3", "has no table [train]"),
    config("unknown option", "[train]\nepoch = 3", "has no option 'epoch'; it has"),
    config("not an integer", "[train]\nepochs = 'many'", "'--epochs'"),
    config("a list", "[train]\nepochs = [1, 2]", "epochs = [1, 2] must be one value"),
    config("a table", "[train.epochs]\na = 1", "must be one value"),
    config("a flag for a number", "[train]\nepochs = true", "must not be true or false"),
    config("a number for a flag", "[train]\nresume = 1", "must be true or false"),
    config("wrong value", "[train]\ntask = 'nosuch'", "task must be one of link, pair"),
    config("out of range", "[train]\nepochs = 0", "epochs must be "),
    config("itself", "[train]\nconfig = 'c.toml'", "has no option 'config'"),
    config("one node, no list", "[predict]\nnode = 'n0'", "must be a list of values",
           "predict run edges.csv --config c.toml"),
]  # fmt: skip

OTHERS = [
    option("reproduce", "missing argument 'TABLE'"),
    option("reproduce nosuch", "there is no table 'nosuch'; use table1, table2, all, or one of"),
    option("reproduce grid --model nosuch", "there is no row 'nosuch'; the rows are gcn"),
    option("reproduce grid --protocol nosuch", "--protocol must be one of paper, released"),
    option("reproduce grid --runs 0", "'--runs'"),
    option("reproduce grid --config nosuch.toml", "nosuch.toml: cannot be read"),
    option("reproduce grid --out nodes.csv", "is not a folder"),
    option("reproduce grid --out results", "give --resume to keep them",
           **{"results/reproduction.jsonl": '{"column": "grid"}\n'}),
    option("datasets --data-dir nosuch", "--data-dir must be a folder that exists"),
    option("datasets --nosuch", "see `pgnn datasets --help`"),
    option("bench nosuch", "see `pgnn bench --help`"),
    option("bench distances --family nosuch", "unknown family 'nosuch'"),
    option("bench distances --threads 0", "'--threads'"),
    option("bench layer --nodes few", "'--nodes'"),
    option("bench train --data nosuch", "nosuch"),
]  # fmt: skip

CASES = [*GRAPH_FILES, *COLUMNS, *TASKS, *OUTPUT, *QUESTIONS, *RUNS, *CONFIG, *OTHERS]


@pytest.mark.parametrize(("arguments", "message", "before"), CASES)
def test_bad_input_is_one_line_and_leaves_nothing(
    trained, command, monkeypatch, arguments, message, before
):
    if callable(before):
        if before is read_only and os.geteuid() == 0:
            pytest.skip("root may write everywhere")
        before(trained, monkeypatch)
    else:
        for name, content in before.items():
            path = trained / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
    there = listing(trained)
    done = command(*shlex.split(arguments))
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("pgnn: ")
    assert done.stderr.count("\n") == 1
    assert message in done.stderr
    assert done.code == 2
    assert done.stdout == ""
    assert listing(trained) == there


def test_there_are_many_cases_of_bad_input():
    assert len(CASES) >= 60
    assert len({case.id for case in CASES}) == len(CASES)
