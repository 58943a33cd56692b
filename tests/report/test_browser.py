"""The pages in a real browser, from a file, without a network."""

import json
import shutil

import numpy as np
import pytest

import pgnn
from pgnn.report import Positions, render_results, render_run, write_report
from report.samples import HOSTILE, caveman, data_in, link_of, report_of

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


def drawn(browser, chart):
    """The nodes and anchors of a drawing as the reader sees them."""
    return browser.execute_script(
        """
        const box = document.getElementById(arguments[0]);
        const at = (one, name) => Number(one.getAttribute(name));
        const nodes = [...box.querySelectorAll("circle.node")];
        const anchors = [...box.querySelectorAll("path.anchor")];
        return {
            fills: nodes.map((node) => getComputedStyle(node).fill),
            x: nodes.map((node) => at(node, "cx")), y: nodes.map((node) => at(node, "cy")),
            anchors: anchors.map((one) => at(one, "data-node")),
            anchorFills: anchors.map((one) => getComputedStyle(one).fill),
            lit: nodes.flatMap((node, index) => node.classList.contains("lit") ? [index] : []),
        };
        """,
        chart,
    )


def scale_of(browser, box):
    """The texts of the ticks of a colour scale."""
    return browser.execute_script(
        "return [...document.querySelectorAll(arguments[0] + ' .scale-ticks span')]"
        ".map((tick) => tick.textContent)",
        f"#{box}",
    )


def point_at(browser, chart, node):
    """Point at a node as a mouse does; return the lines of the label."""
    return browser.execute_script(
        """
        const box = document.getElementById(arguments[0]);
        const circle = box.querySelectorAll("circle.node")[arguments[1]];
        circle.scrollIntoView({ block: "center" });
        const { left, top, width, height } = circle.getBoundingClientRect();
        const place = { clientX: left + width / 2, clientY: top + height / 2, bubbles: true };
        box.querySelector("svg").dispatchEvent(new PointerEvent("pointermove", place));
        const tip = document.querySelector(".tip");
        return tip.hidden ? null : [...tip.children].map((line) => line.textContent);
        """,
        chart,
        node,
    )


def text_of(browser, selector):
    return browser.execute_script(
        "return [...document.querySelectorAll(arguments[0])].map((one) => one.textContent)",
        selector,
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
    before = drawn(browser, chart)["fills"]
    for index in (1, len(run_page["sets"])):
        pick(browser, index)
        hops = run_page["sets"][index - 1]["values"]
        after = drawn(browser, chart)["fills"]
        assert after != before
        # Equal distances are drawn in one colour, different ones in different colours.
        fills = dict(zip(hops, after, strict=True))
        assert [fills[hop] for hop in hops] == after
        assert len(set(fills.values())) == len(fills)
        assert scale_of(browser, "position-scale")[0] == "0"
    pick(browser, 0)
    assert drawn(browser, chart)["fills"] == before


def test_picker_colours_the_members_of_a_class_alike(browser, run_page):
    pick(browser, 0)
    labels = run_page["nodes"]["label"]
    fills = drawn(browser, "graph-chart")["fills"]
    assert len(set(zip(labels, fills, strict=True))) == len(set(labels)) == len(set(fills))


@pytest.mark.parametrize("chart", ["graph-chart", "map-chart"])
def test_picker_draws_every_member_of_the_set(browser, run_page, chart):
    pick(browser, 0)
    assert drawn(browser, chart)["anchors"] == []
    for index in (1, len(run_page["sets"])):
        pick(browser, index)
        seen = drawn(browser, chart)
        assert seen["anchors"] == run_page["sets"][index - 1]["members"]
        assert len(seen["anchors"]) == run_page["sets"][index - 1]["size"]
        assert set(seen["anchorFills"]) == {"rgb(215, 48, 31)"}


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
    assert drawn(browser, "graph-chart")["anchors"] == run_page["sets"][0]["members"]
    for _ in range(2):
        browser.execute_script("document.getElementById('previous-set').click()")
    assert chosen() == len(run_page["sets"])


def test_nodes_that_are_not_reached_are_grey(browser, run_page):
    sets = run_page["sets"]
    index = next(i for i, one in enumerate(sets) if None in one["values"])
    pick(browser, index + 1)
    grey = [fill == "rgb(154, 160, 168)" for fill in drawn(browser, "graph-chart")["fills"]]
    assert grey == [hop is None for hop in sets[index]["values"]]


def test_numbers_of_the_cells_are_those_of_the_data(browser, run_page):
    compared = browser.execute_script(
        """
        const data = JSON.parse(document.getElementById("pgnn-data").textContent);
        const cells = [...document.querySelectorAll(".results [data-value], .links [data-value]")];
        const links = data.links.flatMap((link) => [link.score, link.spread]);
        const wanted = links.concat(data.rows.flatMap((row) => [
            row.metrics.roc_auc,
            row.metrics.average_precision,
            ...(row.paper ? [row.paper[0]] : []),
        ]));
        return cells.map((cell, index) => [Number(cell.dataset.value), wanted[index]]);
        """
    )
    assert len(compared) == 5 + 2 * len(run_page["links"])
    assert all(in_cell == in_data for in_cell, in_data in compared)


def test_pointing_at_a_node_names_it_in_both_drawings(browser, run_page):
    pick(browser, 1)
    node = len(run_page["nodes"]["ids"]) - 1
    lines = point_at(browser, "graph-chart", node)
    hops = run_page["sets"][0]["values"][node]
    assert lines[0] == f"node {node}"
    told = "not reached" if hops is None else f"{hops} hop"
    assert lines[-1].startswith(f"to set 1: {told}")
    assert text_of(browser, "#map-chart text.name") == [f"node {node}"]


def test_model_has_a_row_that_stands_out(browser, run_page):
    colours = browser.execute_script(
        "return ['model', 'heuristic'].map((kind) => getComputedStyle("
        "document.querySelector(`.results tr.${kind} td`)).backgroundColor)"
    )
    assert colours[0] != colours[1]


# ---------------------------------------------------------------------- links and the graph


@pytest.fixture(scope="module")
def linked_page(show):
    graph = caveman()
    links = [link_of(graph, u, v, 0.9 - 0.01 * v) for u, v in [(0, 7), (1, 13), (2, 24), (5, 9)]]
    hidden = np.array([[0, 9], [3, 20]])
    page = render_run(report_of(graph, links=links, num_listed=3, held_out=hidden))
    show(page)
    return data_in(page)


def test_clicking_a_predicted_link_shows_nodes_paths_and_neighbours(browser, linked_page):
    browser.execute_script("document.querySelectorAll('table.links tbody tr')[1].click()")
    settle(browser)
    link = linked_page["links"][1]
    panel = browser.find_element("id", "panel").text
    assert "1 and 13" in panel.splitlines()[0]
    paths = text_of(browser, "#panel .path")
    wanted = ["→".join(str(name) for name, _ in path) for path in link["between"]["paths"]]
    assert paths == wanted
    assert wanted
    for side, name in enumerate((1, 13)):
        total = link["between"]["num_neighbours"][side] - link["between"]["num_shared"]
        assert f"Other neighbours of {name} ({total})" in panel
    lit = set(drawn(browser, "network-chart")["lit"])
    assert {1, 13} <= lit
    assert {place for path in link["between"]["paths"] for _, place in path} <= lit
    assert set(text_of(browser, "#network-chart text.name.end")) == {"1", "13"}
    assert browser.execute_script("return document.querySelectorAll('#network-chart .step').length")


def test_a_line_of_the_drawing_can_be_clicked_and_left_again(browser, linked_page):
    browser.execute_script(
        "document.querySelectorAll('.predicted-target')[0].dispatchEvent("
        "new MouseEvent('click', {bubbles: true}))"
    )
    assert browser.find_element("css selector", "#panel h3").text == "0 and 7"
    browser.execute_script("document.querySelector('#panel button.plain').click()")
    assert drawn(browser, "network-chart")["lit"] == []
    assert len(text_of(browser, "#panel .link-button")) == 3


def test_search_finds_links_beyond_those_listed(browser, linked_page):
    def visible():
        return browser.execute_script(
            "return [...document.querySelectorAll('table.links tbody tr')]"
            ".flatMap((row, index) => row.hidden ? [] : [index])"
        )

    def search(text):
        browser.execute_script(
            "const box = document.getElementById('link-search'); box.value = arguments[0];"
            "box.dispatchEvent(new Event('input'))",
            text,
        )

    assert visible() == [0, 1, 2]
    search("9")
    assert visible() == [3]
    search("nobody")
    assert visible() == []
    assert "none of the 4" in browser.find_element("id", "search-status").text
    search("")
    browser.execute_script("document.getElementById('more-links').click()")
    assert visible() == [0, 1, 2, 3]
    browser.execute_script("document.getElementById('more-links').click()")


def test_held_out_and_predicted_links_are_told_from_edges_and_can_be_hidden(browser, linked_page):
    def shapes():
        return browser.execute_script(
            "const box = document.getElementById('network-chart');"
            "return ['.held-out-edge', '.predicted'].map((one) => box.querySelectorAll(one).length)"
        )

    assert shapes() == [1, 3]
    dashes = browser.execute_script(
        "return getComputedStyle(document.querySelector('.held-out-edge')).strokeDasharray"
    )
    assert dashes != "none"
    for name in ("show-held-out", "show-links"):
        browser.execute_script(f"document.getElementById('{name}').click()")
    assert shapes() == [0, 0]
    for name in ("show-held-out", "show-links"):
        browser.execute_script(f"document.getElementById('{name}').click()")


def test_node_is_found_by_its_name(browser, linked_page):
    browser.execute_script(
        "const box = document.getElementById('node-search'); box.value = '13';"
        "box.dispatchEvent(new Event('input'))"
    )
    assert browser.find_element("css selector", "#panel h3").text == "node 13"
    neighbours = {u + v - 13 for u, v in linked_page["graph"]["edges"] if 13 in (u, v)}
    assert set(drawn(browser, "network-chart")["lit"]) == {13, *neighbours}


def test_degrees_are_coloured_on_a_log_scale(browser, show):
    edges = [(0, v) for v in range(1, 101)] + [(1, v) for v in range(2, 11)]
    show(render_run(report_of(pgnn.Graph.from_edges(edges))))
    ticks = scale_of(browser, "network-scale")
    assert ticks == ["1", "2", "5", "10", "20", "50", "100"]
    places = browser.execute_script(
        "return [...document.querySelectorAll('#network-scale span')]"
        ".map((tick) => parseFloat(tick.style.left))"
    )
    np.testing.assert_allclose(places, 50 * np.log10([1, 2, 5, 10, 20, 50, 100]), atol=0.1)
    fills = drawn(browser, "network-chart")["fills"]
    assert fills[0] == "rgb(253, 231, 37)"  # the hub has the last colour of the scale
    assert len({fills[0], fills[1], fills[2], fills[50]}) == 4


# ---------------------------------------------------------------------- the page


def test_page_is_dark_where_the_reader_wants_it(browser, show, small_page):
    show(small_page)

    def lightness():
        script = """
            const sum = (colour) => colour.match(/\\d+/g).slice(0, 3).reduce((a, b) => a + +b, 0);
            const text = document.querySelector("#roc-chart text.tick");
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
        "box.querySelectorAll('svg circle, svg path').length)"
    )
    assert len(charts) == (7 if kind == "run" else 1)
    assert min(charts) > 0


def on_a_phone(browser):
    metrics = {"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


def test_page_has_no_sideways_scroll_on_a_phone_and_tables_hint_at_theirs(
    browser, show, small_page
):
    on_a_phone(browser)
    try:
        for page in (small_page, results_page()):
            show(page)
            width = browser.execute_script("return document.documentElement.scrollWidth")
            assert width == 390
        show(small_page)
        hints = browser.execute_script(
            "return [...document.querySelectorAll('.scroll')].map((box) => ["
            "box.scrollWidth > box.clientWidth + 4, !box.previousElementSibling.hidden])"
        )
        assert all(is_wide == has_hint for is_wide, has_hint in hints)
        assert any(is_wide for is_wide, _ in hints)
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_weighted_graph_without_labels_is_drawn(browser, show):
    graph = pgnn.Graph.from_edges([(0, 1), (1, 2), (3, 4)], 6, weights=[0.25, 1.5, 0.125])
    page = render_run(report_of(graph, sets=pgnn.AnchorSets.from_sets([[0], [3, 4]], 6)))
    show(page)
    pick(browser, 1)
    fills = drawn(browser, "graph-chart")["fills"]
    assert len(set(fills[:3])) == 3
    assert fills[3:] == ["rgb(154, 160, 168)"] * 3
    assert point_at(browser, "graph-chart", 1)[-1] == "to set 1: length 0.25"
    text = browser.find_element("id", "anchor-text").text
    assert "the length of its shortest path to the red node" in text
    assert browser.get_log("browser") == []


def test_pagerank_is_coloured_by_powers_of_ten_and_told_in_percent(browser, show):
    graph = pgnn.Graph.from_edges([(0, 1), (1, 2), (2, 3)], 4)
    sets = pgnn.AnchorSets.from_sets([[0]], 4)
    positions = Positions(sets, np.array([[1.0], [0.1], [0.001], [1e-9]]), "pagerank")
    show(render_run(report_of(graph, positions=positions)))
    pick(browser, 1)
    fills = drawn(browser, "graph-chart")["fills"]
    # A tenth lies a third of the way from 1 to 0.001, the ends of the scale.
    assert fills[0] == "rgb(253, 231, 37)"
    assert fills[2] == "rgb(67, 62, 133)"
    assert fills[3] == "rgb(154, 160, 168)"
    assert scale_of(browser, "position-scale") == ["0.1%", "1%", "10%", "100%"]
    assert point_at(browser, "graph-chart", 1)[-1] == "to set 1: 10% of the walk"
    assert point_at(browser, "graph-chart", 3)[-1] == "to set 1: not reached"
    text = browser.find_element("id", "anchor-text").text
    assert "the share of its time that a random walk from the node spends on the red node" in text
    assert "less than a millionth" in text
    assert browser.get_log("browser") == []


def test_hostile_names_are_shown_and_do_not_run(browser, show):
    ids = HOSTILE + [f"n{i}" for i in range(25 - len(HOSTILE))]
    graph = caveman(ids=ids)
    links = [link_of(graph, u, 24, 0.5, 0.1, reason=name) for u, name in enumerate(HOSTILE)]
    rates = (np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    page = render_run(report_of(graph, links=links, roc=dict.fromkeys(HOSTILE, rates)))
    show(page)
    pick(browser, 3)
    assert text_of(browser, ".links tbody td:nth-child(2)") == HOSTILE
    assert text_of(browser, ".links tbody td.why") == HOSTILE
    assert text_of(browser, "#roc-keys bdi") == HOSTILE
    for node, name in enumerate(HOSTILE):
        browser.execute_script(
            "document.querySelectorAll('table.links tbody tr')[arguments[0]].click()", node
        )
        assert text_of(browser, "#panel h3 bdi")[0] == name
        browser.execute_script("chooseNode(arguments[0])", node)
        assert text_of(browser, "#panel h3 bdi") == [name]
        assert point_at(browser, "graph-chart", node)[0] == f"node {name}"
    assert browser.execute_script("return typeof window.ran") == "undefined"
    assert browser.execute_script("return document.images.length") == 0
    assert browser.get_log("browser") == []
