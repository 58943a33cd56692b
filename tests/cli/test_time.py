"""`--time`: train on the past, be judged by the future, as a user of the command meets it."""

import tomllib

import numpy as np
import pytest

from cli_helpers import FEW, community_edges, document, metrics_of, write_table

NAMES = ("who", "whom", "day")
QUICK = (*FEW, "--quiet")


def day(number):
    return str(np.datetime64("2024-01-01") + number)


def timed_edges(seed=0):
    chance = np.random.default_rng(seed)
    return [(f"n{u}", f"n{v}", day(int(chance.integers(100)))) for u, v in community_edges(size=9)]


@pytest.fixture
def orders(command, tmp_path):
    write_table(tmp_path / "orders.csv", timed_edges(), NAMES)
    return tmp_path / "orders.csv"


def test_train_says_how_time_was_used_and_keeps_the_cut(orders, command):
    done = command("train", "orders.csv", "--time", "day", "--out", "run", *FEW)
    assert done.code == 0
    assert "weight = number of events (strength); time = day (2024-01-0" in done.stderr
    assert "are seen, judged by" in done.stderr
    config = tomllib.loads((orders.parent / "run/config.toml").read_text())["train"]
    facts = metrics_of(orders.parent / "run")["time"]
    assert config["test_from"] == facts["test_from"]
    assert (config["time"], config["weights"]) == ("day", "strength")


def test_the_config_of_a_run_gives_the_same_numbers_again(orders, command):
    assert command("train", "orders.csv", "--time", "day", "--out", "run", *QUICK).code == 0
    assert command("train", "--config", "run/config.toml", "--out", "again", "-q",
                   "orders.csv").code == 0  # fmt: skip
    folder = orders.parent
    left_out = ("seconds", "recipe")
    assert (
        metrics_of(folder / "run", without=left_out)["test_auc"]
        == (metrics_of(folder / "again", without=left_out)["test_auc"])
    )


def test_evaluate_repeats_the_number_and_judges_other_futures(orders, command):
    cut = ("--time", "day", "--test-from", day(70))
    trained = document(command("train", "orders.csv", *cut, "--out", "run", *FEW, "--json"))
    own = document(command("evaluate", "run", "orders.csv", "--json"))
    assert own["metrics"]["roc_auc"] == pytest.approx(trained["test_auc"])
    assert own["time"] == trained["time"]
    later = document(command("evaluate", "run", "orders.csv", "--test-from", day(80), "--json"))
    assert later["pairs"].startswith(f"links that are new from {day(80)} on")
    assert later["num_positive"] == later["time"]["new_links"] < own["num_positive"]
    listed = command("evaluate", "run", "orders.csv", "--test-from", day(80), "-o", "s.csv")
    assert listed.code == 0
    rows = (orders.parent / "s.csv").read_text().splitlines()[1:]
    dates = {frozenset(edge[:2]): edge[2] for edge in timed_edges()}
    for row in rows:
        u, v, label, *_ = row.split(",")
        moment = dates.get(frozenset((u, v)))
        assert moment >= day(80) if label in ("1", "true", "True") else moment is None


def test_planted_future_edges_change_no_prediction(orders, command):
    cut = ("--time", "day", "--test-from", day(70))
    planted = [("n0", "n20", day(75)), ("new", "n3", day(80)), ("007", "new", day(81))]
    write_table(orders.parent / "planted.csv", [*planted, *timed_edges()], NAMES)
    links = []
    for name in ("orders", "planted"):
        run = f"{name}-run"
        assert command("train", f"{name}.csv", *cut, "--out", run, *QUICK).code == 0
        asked = ("--until", day(69), "--top", 30, "--json")
        links.append(document(command("predict", run, f"{name}.csv", *asked)))
    assert links[0] == links[1]
    val = [metrics_of(orders.parent / f"{name}-run")["val_auc"] for name in ("orders", "planted")]
    assert val[0] == val[1]


def test_until_is_as_if_later_edges_were_not_in_the_file(orders, command):
    known = [edge for edge in timed_edges() if edge[2] <= day(60)]
    write_table(orders.parent / "known.csv", known, NAMES)
    time = ("--time", "day", *FEW)
    assert command("train", "orders.csv", *time, "--until", day(60), "--out", "a").code == 0
    assert command("train", "known.csv", *time, "--out", "b").code == 0
    first, second = (metrics_of(orders.parent / run) for run in "ab")
    assert (first["test_auc"], first["val_auc"]) == (second["test_auc"], second["val_auc"])
    assert first["time"].pop("until") == day(60)
    second["time"].pop("until")
    assert first["time"] == second["time"]


def test_predict_uses_all_edges_of_the_file(orders, command):
    assert command("train", "orders.csv", "--time", "day", "--out", "run", *QUICK).code == 0
    done = command("predict", "run", "orders.csv", "--top", 5, "--json")
    joined = {frozenset(edge[:2]) for edge in timed_edges()}
    assert all(frozenset((link["source"], link["target"])) not in joined
               for link in document(done)["links"])  # fmt: skip
    assert f"{len(joined)} edges" in done.stderr


def test_a_file_without_the_times_of_the_run_is_read_without_them(orders, command):
    assert command("train", "orders.csv", "--time", "day", "--out", "run", *QUICK).code == 0
    write_table(orders.parent / "plain.csv", [edge[:2] for edge in timed_edges()], NAMES[:2])
    done = command("predict", "run", "plain.csv", "--top", 2, "--json")
    assert len(document(done)["links"]) == 2
    assert "time" not in done.stderr


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--test-from", "2024"), "--test-from needs --time COLUMN"),
        (("--until", "2024"), "--until needs --time COLUMN"),
        (("--time", "hour"), "column --time='hour' does not exist; the columns are 'who'"),
        (("--time", "whom"), "--time is column 'whom', which holds ids"),
        (("--time", "day", "--test-from", "soon"), "--test-from must be a date such as"),
        (("--time", "day", "--until", "2020"), "all events are after --until (2020)"),
        (("--time", "day", "--task", "pair"), "--time is for task 'link'"),
    ],
)
def test_mistakes_are_one_line_with_the_flag(orders, command, options, problem):
    done = command("train", "orders.csv", *options, "--out", "run")
    assert done.code == 2
    assert problem in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (orders.parent / "run").exists()


def test_an_unreadable_date_is_named_with_its_line(command, tmp_path):
    write_table(tmp_path / "e.csv", [("a", "b", "2024-01-01"), ("b", "c", "31.12.2024")], NAMES)
    done = command("train", "e.csv", "--time", "day")
    assert (done.code, len(done.stderr.splitlines())) == (2, 1)
    assert "e.csv, line 3: the time is '31.12.2024', but times must be dates such as" in done.stderr
