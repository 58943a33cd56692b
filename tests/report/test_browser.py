"""The pages in a real browser, from a file, without a network."""

import json
import shutil

import numpy as np
import pytest

import pgnn
from pgnn.report import Link, Positions, render_results, render_run, write_report
from report.samples import HOSTILE, caveman, data_in, report_of

OPTIONS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1300,1000",
]
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    webdriver = pytest.importorskip("selenium.webdriver", reason="needs selenium")
    binary = next(filter(None, map(shutil.which, BROWSERS)), None)
    driver = shutil.which("chromedriver")
    if binary is None or driver is None:
        pytest.skip("needs chromium and chromedriver (Debian: chromium chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for option in [*OPTIONS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"]:
        options.add_argument(option)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    # A given path, so that selenium does not look for a driver to download.
    service = webdriver.ChromeService(executable_path=driver)
    running = webdriver.Chrome(options=options, service=service)
    # A busy machine takes its time; a test must not fail for that.
    running.command_executor.client_config.timeout = 600
    running.set_script_timeout(300)
    try:
        yield running
    finally:
        running.quit()


@pytest.fixture(scope="module")
def show(browser, tmp_path_factory):
    """Open a page from a file and wait until it is drawn; what it logs starts anew."""
    folder = tmp_path_factory.mktemp("pages")

    def open_page(page):
        forget(browser)
        path = folder / "report.html"
        write_report(path, page)
        browser.get(path.as_uri())
        settle(browser)

    return open_page


@pytest.fixture(scope="module")
def run_page(show, small_page):
    """The page of a run, opened once for the tests that only pick and look."""
    show(small_page)
    return data_in(small_page)


def forget(browser):
    for kind in ("browser", "performance"):
        browser.get_log(kind)


def settle(browser):
    """Wait for two frames, after which what was asked for is drawn."""
    browser.execute_async_script(
        "const done = arguments[0];"
        "requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 0)));"
    )


def pick(browser, index):
    """Pick an option as a reader does, by its place in the list."""
    from selenium.webdriver.support.select import Select

    Select(browser.find_element("id", "anchor-set")).select_by_index(index)
    settle(browser)


def trace(browser, chart, name):
    """A trace of a chart: what plotly was given and what it drew."""
    return browser.execute_script(
        """
        const box = document.getElementById(arguments[0]);
        const index = box.data.findIndex((one) => one.name === arguments[1]);
        const one = box.data[index];
        const drawn = `.scatterlayer > .trace${box._fullData[index].uid} path.point`;
        const points = [...box.querySelectorAll(drawn)];
        return {
            color: one.marker.color, symbol: one.marker.symbol, x: one.x, y: one.y,
            scale: one.marker.showscale, hovertext: one.hovertext,
            fills: points.map((point) => getComputedStyle(point).fill),
            shapes: points.map((point) => point.getAttribute("d")),
        };
        """,
        chart,
        name,
    )


def hovered(browser, chart):
    """First line of the label that a chart shows, None if it shows none."""
    return browser.execute_script(
        "const box = document.getElementById(arguments[0]);"
        "return box.querySelector('.hoverlayer .nums .line')?.textContent ?? null",
        chart,
    )


def requests(browser):
    messages = (json.loads(entry["message"])["message"] for entry in browser.get_log("performance"))
    return [
        message["params"]["request"]["url"]
        for message in messages
        if message["method"] == "Network.requestWillBeSent"
    ]


def results_page():
    record = {"column": "grid", "protocol": "paper", "seed": 0, "seconds": 1.0}
    rows = {"gcn": 0.5, "pgnn-e-2l": 0.95, "pgnn-p-2l": 0.96, "ppr": 0.9}
    return render_results([record | {"model": name, "test_auc": auc} for name, auc in rows.items()])


@pytest.mark.parametrize("chart", ["graph-chart", "map-chart"])
def test_picker_colours_nodes_by_their_distance(browser, run_page, chart):
    pick(browser, 0)
    before = trace(browser, chart, "nodes")
    assert before["scale"] is False
    for index in (1, len(run_page["sets"])):
        pick(browser, index)
        hops = run_page["sets"][index - 1]["values"]
        after = trace(browser, chart, "nodes")
        assert after["scale"] is True
        assert after["color"] != before["color"]
        reached = [hop is not None for hop in hops]
        assert [c for c, known in zip(after["color"], reached, strict=True) if known] == [
            hop for hop in hops if hop is not None
        ]
        # Equal distances are drawn in one colour, different ones in different colours.
        fills = dict(zip(hops, after["fills"], strict=True))
        assert [fills[hop] for hop in hops] == after["fills"]
        assert len(set(fills.values())) == len(fills)
    pick(browser, 0)
    assert trace(browser, chart, "nodes")["fills"] == before["fills"]


def test_picker_colours_the_members_of_a_community_alike(browser, run_page):
    pick(browser, 0)
    labels = run_page["nodes"]["label"]
    fills = trace(browser, "graph-chart", "nodes")["fills"]
    assert len(set(zip(labels, fills, strict=True))) == len(set(labels)) == len(set(fills))


@pytest.mark.parametrize("chart", ["graph-chart", "map-chart"])
def test_picker_marks_the_members_of_the_set(browser, run_page, chart):
    pick(browser, 0)
    assert trace(browser, chart, "members")["x"] == []
    places = run_page["graph" if chart == "graph-chart" else "map"]
    for index in (1, len(run_page["sets"])):
        pick(browser, index)
        members = run_page["sets"][index - 1]["members"]
        nodes, marked = trace(browser, chart, "nodes"), trace(browser, chart, "members")
        assert marked["x"] == [places["x"][node] for node in members]
        assert marked["y"] == [places["y"][node] for node in members]
        assert len(marked["shapes"]) == len(members)
        assert not set(marked["shapes"]) & set(nodes["shapes"])
        assert set(marked["fills"]) == {"rgb(215, 48, 31)"}


def test_text_explains_what_is_seen(browser, run_page):
    pick(browser, 0)
    index = next(i for i, one in enumerate(run_page["sets"]) if one["size"] > 1)
    pick(browser, index + 1)
    text = browser.find_element("id", "anchor-text").text
    count = run_page["sets"][index]["size"]
    assert f"its number of hops to the nearest of the {count} red nodes" in text
    assert f"describes a node by {run_page['num_sets']} such distances" in text
    assert ("Grey" in text) == (None in run_page["sets"][index]["values"])


def test_buttons_step_through_the_sets(browser, run_page):
    pick(browser, 0)

    def chosen():
        return browser.execute_script("return document.getElementById('anchor-set').selectedIndex")

    browser.execute_script("document.getElementById('next-set').click()")
    assert chosen() == 1
    settle(browser)
    hops = run_page["sets"][0]["values"]
    colours = trace(browser, "graph-chart", "nodes")["color"]
    assert sum(a == b for a, b in zip(colours, hops, strict=True)) == len(hops) - hops.count(None)
    for _ in range(2):
        browser.execute_script("document.getElementById('previous-set').click()")
    assert chosen() == len(run_page["sets"])


def test_nodes_that_are_not_reached_are_grey(browser, run_page):
    pick(browser, 0)
    sets = run_page["sets"]
    index = next(i for i, one in enumerate(sets) if None in one["values"])
    pick(browser, index + 1)
    fills = trace(browser, "graph-chart", "nodes")["fills"]
    grey = [fill == "rgb(154, 160, 168)" for fill in fills]
    assert grey == [hop is None for hop in sets[index]["values"]]


def test_numbers_of_the_cells_are_those_of_the_data(browser, run_page):
    found = browser.execute_script(
        """
        const data = JSON.parse(document.getElementById("pgnn-data").textContent);
        const cells = (where) => [...document.querySelectorAll(where + " [data-value]")];
        const wanted = data.rows.flatMap((row) => [
            row.metrics.roc_auc,
            row.metrics.average_precision,
            ...(row.paper ? [row.paper[0]] : []),
        ]).concat(data.links.flatMap((link) => [link.score, link.spread]));
        return [...cells(".results"), ...cells(".links")].map((cell, index) =>
            [Number(cell.dataset.value), wanted[index], cell.innerText]);
        """
    )
    assert len(found) == 5 + 2 * len(run_page["links"])
    for in_cell, in_data, text in found:
        assert in_cell == in_data
        assert text.startswith(f"{in_data:.3f}")


def test_pointing_at_a_node_names_it_in_both_drawings(browser, run_page):
    from selenium.webdriver import ActionChains
    from selenium.webdriver.support.wait import WebDriverWait

    pick(browser, 0)
    isolated = len(run_page["nodes"]["ids"]) - 1  # no other node lies over it
    point = browser.find_elements("css selector", "#graph-chart .scatterlayer path.point")[isolated]
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", point)
    ActionChains(browser).move_to_element(point).perform()

    def named(_):
        first = [hovered(browser, chart) for chart in ("graph-chart", "map-chart")]
        return first == [f"node {isolated}"] * 2

    assert WebDriverWait(browser, 120).until(named)


def test_page_is_dark_where_the_reader_wants_it(browser, run_page):
    def lightness():
        script = """
            const sum = (colour) => colour.match(/\\d+/g).slice(0, 3).reduce((a, b) => a + +b, 0);
            const text = document.querySelector("#training-chart .xtick text");
            return [sum(getComputedStyle(document.body).backgroundColor),
                    sum(getComputedStyle(text).fill)];
        """
        return browser.execute_script(script)

    page, text = lightness()
    assert page > 600 > 200 > text
    features = [{"name": "prefers-color-scheme", "value": "dark"}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    try:
        page, text = lightness()
        assert page < 200 < 600 < text
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


@pytest.mark.parametrize("kind", ["run", "results"])
def test_page_opens_without_errors_and_asks_no_host(browser, show, small_page, kind):
    show(small_page if kind == "run" else results_page())
    urls = requests(browser)
    assert len(urls) >= 1
    assert all(url.startswith(("file:", "data:", "blob:")) for url in urls)
    assert browser.get_log("browser") == []
    charts = browser.execute_script(
        "return [...document.querySelectorAll('.chart')].map((box) => "
        "box.querySelectorAll('.scatterlayer .trace').length)"
    )
    assert len(charts) == (4 if kind == "run" else 1)
    assert min(charts) > 0


def test_page_has_no_sideways_scroll_on_a_phone(browser, show, small_page):
    metrics = {"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        for page in (small_page, results_page()):
            show(page)
            width = browser.execute_script("return document.documentElement.scrollWidth")
            assert width == 390
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_weighted_graph_without_labels_is_drawn(browser, show):
    graph = pgnn.Graph.from_edges([(0, 1), (1, 2), (3, 4)], 6, weights=[0.25, 1.5, 0.125])
    page = render_run(report_of(graph, sets=pgnn.AnchorSets.from_sets([[0], [3, 4]], 6)))
    show(page)
    pick(browser, 1)
    nodes = trace(browser, "graph-chart", "nodes")
    assert nodes["color"][:3] == [0, 0.25, 1.75]
    assert nodes["fills"][3:] == ["rgb(154, 160, 168)"] * 3
    text = browser.find_element("id", "anchor-text").text
    assert "the length of its shortest path to the red node" in text
    assert browser.get_log("browser") == []


def test_pagerank_is_coloured_by_powers_of_ten_and_told_in_percent(browser, show):
    graph = pgnn.Graph.from_edges([(0, 1), (1, 2), (2, 3)], 4)
    sets = pgnn.AnchorSets.from_sets([[0]], 4)
    positions = Positions(sets, np.array([[0.5], [0.1], [0.001], [1e-9]]), "pagerank")
    show(render_run(report_of(graph, positions=positions)))
    pick(browser, 1)
    nodes = trace(browser, "graph-chart", "nodes")
    assert nodes["color"][:3] == pytest.approx([np.log10(0.5), -1, -3])
    assert nodes["fills"][3] == "rgb(154, 160, 168)"
    assert "to set 1: 10% of the walk" in nodes["hovertext"][1]
    assert "to set 1: not reached" in nodes["hovertext"][3]
    ticks = browser.execute_script(
        "return [...document.querySelectorAll('#graph-chart .infolayer .cbaxis text')]"
        ".map((tick) => tick.textContent)"
    )
    assert {"10%", "1%", "0.1%"} <= set(ticks)
    text = browser.find_element("id", "anchor-text").text
    assert "the share of its time that a random walk from the node spends on the red node" in text
    assert "less than a millionth" in text
    assert browser.get_log("browser") == []


def test_hostile_ids_are_shown_and_do_not_run(browser, show):
    from selenium.webdriver.support.wait import WebDriverWait

    ids = HOSTILE + [f"n{i}" for i in range(25 - len(HOSTILE))]
    links = [Link(name, "n0", 0.5, 0.1) for name in HOSTILE]
    rates = (np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    page = render_run(report_of(caveman(ids=ids), links=links, roc=dict.fromkeys(HOSTILE, rates)))
    show(page)
    pick(browser, 3)
    shown = browser.execute_script(
        "return [...document.querySelectorAll('.links tr td:nth-child(2)')]"
        ".map((cell) => cell.textContent)"
    )
    assert shown == HOSTILE
    for node, name in enumerate(HOSTILE):
        browser.execute_script(
            "Plotly.Fx.hover('graph-chart', [{ curveNumber: 1, pointNumber: arguments[0] }])", node
        )
        words = f"node {name}".split()
        # Plotly draws a label at most every 50 ms.
        assert WebDriverWait(browser, 120).until(
            lambda _, words=words: (hovered(browser, "graph-chart") or "").split() == words
        )
    assert browser.execute_script("return typeof window.ran") == "undefined"
    assert browser.execute_script("return document.images.length") == 0
    assert browser.get_log("browser") == []
