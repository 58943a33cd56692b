"""`--config`: options from a TOML file."""

from cli_helpers import document, metrics_of, outcome


def test_config_of_a_run_repeats_it_and_what_is_typed_wins(trained, command):
    config = ["train", "--config", "run/config.toml", "--quiet"]
    assert command(*config, "--out", "again").code == 0
    assert outcome(trained / "again") == outcome(trained / "run")
    assert command(*config, "--out", "other", "--seed", 3, "--model", "mlp").code == 0
    recipe = metrics_of(trained / "other")["recipe"]
    assert (recipe["seed"], recipe["model"], recipe["epochs"]) == (3, "mlp", 2)


def test_config_may_hold_a_data_set_and_questions(trained, command, small_grid):
    text = '[train]\ngraph = "grid"\nmodel = "mlp"\nepochs = 1\n[predict]\ntop = 2\nnode = ["n0"]\n'
    (trained / "c.toml").write_text(text + "quiet = true\nas_json = true\n")
    assert "grid link, mlp" in command("train", "--config", "c.toml", "--quiet").stdout
    done = command("predict", "run", "edges.csv", "--config", "c.toml")
    assert [link["source"] for link in document(done)["links"]] == ["n0", "n0"]
    assert done.stderr == ""
