"""Draw docs/images/how_*.png, the pictures of docs/how-it-works.md.

Run `python docs/figures/how_it_works.py` from anywhere; it takes some seconds. Every number in the
pictures (hops, nearest anchors, messages, z and h) is computed by the library.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
import torch
from matplotlib.colors import PowerNorm
from matplotlib.patches import FancyArrowPatch, Rectangle
from numpy.typing import NDArray
from theory import PLACES, V1, V2, V3, figure_1, seeded, to_graph
from torch import Tensor, nn

from pgnn import AnchorSets, Graph, anchor_distances, sample_anchor_sets
from pgnn.nn import PGNNLayer

IMAGES = Path(__file__).parents[1] / "images"
INK, EDGE, PALE = "0.15", "0.65", "0.93"
# Okabe and Ito's colours, which colour-blind readers tell apart.
BLUE, ORANGE, GREEN = "#0072B2", "#D55E00", "#009E73"
HOPS = "YlGnBu"  # near is light
LABEL: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 12, "color": INK}


def save(figure: Any, name: str) -> None:
    """Write a picture that is the same whenever it is drawn."""
    figure.savefig(IMAGES / f"how_{name}.png", dpi=150, metadata={"Software": None})
    plt.close(figure)


def hops_of(graph: Graph, sets: Any) -> NDArray[np.int64]:
    """Return hops `[n, k]` of an unweighted graph."""
    hops = anchor_distances(graph, sets).hops
    assert hops is not None
    return hops.astype(np.int64)


def draw_disc(axes: Any, place: Any, text: str, *, size: float = 17, **style: Any) -> None:
    """Draw a node with a text in it."""
    look = {"mfc": PALE, "mec": INK, "mew": 1.2, **style}
    ink = look.pop("ink", INK)
    axes.plot(*place, "o", ms=size, zorder=3, **look)
    axes.text(*place, text, ha="center", va="center_baseline", fontsize=11, color=ink, zorder=4)


def draw_edges(axes: Any, graph: Graph, places: Any) -> None:
    """Draw the edges of a graph as thin lines."""
    for u, v in graph.edges():
        (x0, y0), (x1, y1) = places[u], places[v]
        axes.plot([x0, x1], [y0, y1], c=EDGE, lw=1.6, zorder=1)


def quiet(axes: Any, title: str) -> None:
    """Leave the title alone of all that axes draw."""
    axes.set_title(title, fontsize=12, color=INK)
    axes.set_axis_off()


# ---------------------------------------------------------------------- Figure 1 of the paper


def draw_symmetry() -> None:
    """Show a graph, what message passing sees of two of its nodes, and what an anchor adds."""
    graph = to_graph(figure_1())
    places = [*PLACES, *((-x, y) for x, y in PLACES)]
    names = {V1: "$v_1$", V2: "$v_2$", V3: "$v_3$"}
    figure, axes = plt.subplots(1, 3, figsize=(12, 3.2), layout="constrained")
    draw_edges(axes[0], graph, places)
    for node, place in enumerate(places):
        own: dict[str, Any] = {"mec": ORANGE, "mew": 2.6} if node in (V1, V2) else {}
        draw_disc(axes[0], place, names[node] if own else "", **own)
    quiet(axes[0], "The two halves mirror each other")
    draw_trees(axes[1], graph)
    quiet(axes[1], "What two layers of message passing read")
    hops = hops_of(graph, [[V3]])[:, 0]
    colours = plt.get_cmap(HOPS)(hops / hops.max())
    draw_edges(axes[2], graph, places)
    for node, place in enumerate(places):
        ink = "white" if hops[node] > 3 else INK
        draw_disc(axes[2], place, str(hops[node]), mfc=colours[node], ink=ink)
        if node in names:
            x, y = place
            axes[2].text(x - 0.75 if node == V1 else x + 0.75, y, names[node], **LABEL)
    quiet(axes[2], "Hops to the anchor-set $\\{v_3\\}$")
    for panel in (axes[0], axes[2]):
        panel.set_xlim(-5.2, 5.2)
        panel.set_ylim(-1.6, 2.6)
    save(figure, "symmetry")


def draw_trees(axes: Any, graph: Graph) -> None:
    """Draw the computation trees of v1 and v2, two levels deep, with an equals sign between."""
    for root, name, left in ((V1, "$v_1$", 0.0), (V2, "$v_2$", 9.0)):
        leaves = left
        children = []
        for child in graph.neighbors(root):
            spots = leaves + np.arange(len(graph.neighbors(int(child))))
            leaves = spots[-1] + 1.3
            middle = spots.mean()
            for spot in spots:
                axes.plot([middle, spot], [1, 0], c=EDGE, lw=1.4, zorder=1)
                draw_disc(axes, (spot, 0), "", size=11)
            children.append(middle)
        top = float(np.mean(children))
        for middle in children:
            axes.plot([top, middle], [2, 1], c=EDGE, lw=1.4, zorder=1)
            draw_disc(axes, (middle, 1), "", size=14)
        draw_disc(axes, (top, 2), name, mec=ORANGE, mew=2.6)
    axes.text(7.65, 1, "=", ha="center", va="center", fontsize=24, color=INK)
    axes.set_xlim(-0.8, 16.1)
    axes.set_ylim(-0.75, 2.6)


# ---------------------------------------------------------------------- Figure 2 of the paper


class KeptMessages(nn.Module):
    """F of the paper, which remembers what it said."""

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        self.linear = nn.Linear(2 * in_channels, out_channels)
        self.said = torch.empty(0)

    def forward(self, s: Tensor, h_v: Tensor, h_u: Tensor) -> Tensor:
        """Return ReLU(W (s [h_v ; h_u]) + b), `[m, r]`."""
        self.said = self.linear(s * torch.cat([h_v, h_u], dim=-1)).relu()
        return self.said


def one_layer(graph: Graph, sets: AnchorSets) -> tuple[Tensor, Tensor, Tensor]:
    """Run a layer of random weights on random features; return M `[n, k, r]`, z and h."""
    with seeded(51), torch.no_grad():  # a seed with z > 0, since shades show no sign
        message = KeptMessages(4, 6)
        layer = PGNNLayer(4, 6, message=message)
        z, h = layer(torch.rand(graph.num_nodes, 4), anchor_distances(graph, sets))
    return message.said.view(graph.num_nodes, len(sets), 6), z, h


def draw_architecture() -> None:
    """Show one layer at one node: sets, messages, the matrix M, and what becomes of it."""
    edges = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (3, 5), (4, 6), (5, 6), (6, 7)]
    graph = Graph.from_edges(edges)
    spots = [(0, 0.9), (0.4, 2), (1.1, 1), (2, 1.5), (2.3, 2.5), (2.9, 0.9), (3.3, 1.9), (4, 2.6)]
    sets = sample_anchor_sets(graph.num_nodes, num_sets=3, scheme="fixed", rng=0)
    figure, axes = plt.subplots(figsize=(12, 3.9), layout="constrained")
    draw_edges(axes, graph, spots)
    colours = [BLUE, ORANGE, GREEN]
    for node, spot in enumerate(spots):
        for number, colour in enumerate(colours):
            if node in sets[number]:
                axes.plot(*spot, "o", ms=21 + 5 * number, mfc="none", mec=colour, mew=2.4, zorder=2)
        own: dict[str, Any] = {"mfc": INK, "ink": "white"} if node == 0 else {}
        draw_disc(axes, spot, str(node), **own)
    for number, colour in enumerate(colours):
        members = ", ".join(str(node) for node in sets[number])
        axes.text(-0.25 + (0, 2.0, 3.4)[number], -0.6, f"$S_{number + 1}$ = {{{members}}}",
                  va="center_baseline", fontsize=12, color=colour)  # fmt: skip
    draw_messages(axes, graph, sets, colours)
    for x, text in (
        (1.9, "Anchor-sets, shared by all nodes"),
        (6.75, "AGG$_M$: the closest member\nof each set speaks to $v$ = 0"),
        (10.3, "messages $M_v$  [k, r]"),
        (13.15, "output $z_v$  [k]"),
    ):
        axes.text(x, 3.35, text, **LABEL)
    axes.set_xlim(-0.4, 14.3)
    axes.set_ylim(-0.95, 3.65)
    axes.set_axis_off()
    save(figure, "architecture")


def draw_messages(axes: Any, graph: Graph, sets: AnchorSets, colours: list[str]) -> None:
    """Draw, for node 0, its nearest anchor of each set, the rows of M, z and h."""
    distances, (messages, z, h) = anchor_distances(graph, sets), one_layer(graph, sets)
    assert distances.hops is not None
    assert bool((z[0] > 0).all()), "cells show numbers from 0 on"
    largest = float(messages[0].max())
    for number, colour in enumerate(colours):
        y = 2.4 - 0.85 * number
        hops, nearest = int(distances.hops[0, number]), int(distances.nearest[0, number])
        axes.text(5.05, y, f"$S_{number + 1}$", va="center_baseline", fontsize=12, color=colour)
        draw_disc(axes, (5.75, y), str(nearest), mec=colour, mew=2.6)
        axes.text(6.15, y, f"d = {hops},  s = 1/{hops + 1}", va="center_baseline", fontsize=12,
                  color=INK)  # fmt: skip
        draw_arrow(axes, (8.1, y), (9.0, y))
        axes.text(8.5, y + 0.12, "F", ha="center", fontsize=12, color=INK)
        draw_cells(axes, (9.2, y), messages[0, number] / largest, colour)
        draw_arrow(axes, (11.6, y), (12.75, y))
        draw_cells(axes, (12.95, y), z[0, number : number + 1] / z[0].max(), INK)
    axes.text(12.1, 2.52, "$\\sigma(M_v w)$", ha="center", fontsize=12, color=INK)
    draw_arrow(axes, (10.3, 0.42), (10.3, -0.28))
    axes.text(10.5, 0.02, "AGG$_S$: mean of the rows", fontsize=12, color=INK)
    draw_cells(axes, (9.2, -0.6), h[0] / largest, INK)
    axes.text(11.6, -0.6, "$h_v$  [r], to the next layer", va="center_baseline", fontsize=12,
              color=INK)  # fmt: skip


def draw_arrow(axes: Any, start: Any, end: Any) -> None:
    """Draw an arrow."""
    look: dict[str, Any] = {"arrowstyle": "-|>", "mutation_scale": 14, "color": INK, "lw": 1.3}
    axes.add_patch(FancyArrowPatch(start, end, **look))


def draw_cells(axes: Any, corner: Any, values: Tensor, colour: str) -> None:
    """Draw numbers from 0 to 1 as a row of cells, darker for more, from a point on the left."""
    x, y = corner
    for column, value in enumerate(values.tolist()):
        shade = {"fc": colour, "alpha": 0.08 + 0.87 * value}
        box = (x + 0.37 * column, y - 0.19)
        axes.add_patch(Rectangle(box, 0.37, 0.38, ec="none", **shade))
        axes.add_patch(Rectangle(box, 0.37, 0.38, fc="none", ec=colour, lw=1.4))


# ---------------------------------------------------------------------- positions on a grid


def draw_positions(side: int = 16) -> None:
    """Colour a grid by distance to a set of each of several sizes, and follow two corners."""
    graph = Graph.from_networkx(nx.grid_2d_graph(side, side))
    # Some draws leave the corners equal in one of the four sets shown; this one does not.
    sets = sample_anchor_sets(graph.num_nodes, rng=13)
    classes = [1, 2, 3, int(sets.size_class[-1])]
    first = [int(np.flatnonzero(sets.size_class == i)[0]) for i in classes]
    hops = hops_of(graph, sets)[:, first]
    y, x = np.divmod(np.arange(graph.num_nodes), side)
    corners = {"a": side * (side - 1), "b": side - 1}  # top left and bottom right
    norm = PowerNorm(0.5, 0, hops.max())
    figure, axes = plt.subplots(1, 4, figsize=(10, 3.5), layout="constrained")
    for panel, number, i, column in zip(axes, first, classes, hops.T, strict=True):
        panel.scatter(x, y, c=column, cmap=HOPS, norm=norm, s=88, marker="s", lw=0)
        anchors = sets[number]
        panel.plot(x[anchors], y[anchors], "o", ms=5, mfc=ORANGE, mec="white", mew=0.8)
        for name, node in corners.items():
            shift = 1.3 if name == "a" else -1.3
            panel.text(x[node], y[node] + shift, name, weight="bold", **LABEL)
        ends = ", ".join(f"{name}: {column[node]}" for name, node in corners.items())
        panel.text(side / 2 - 0.5, -1.3, ends, **LABEL)
        nodes = f"{len(anchors)} node{'s' * (len(anchors) > 1)}"
        panel.text(side / 2, side + 0.3, f"about n/{2**i}: {nodes}", **LABEL)
        panel.set_axis_off()
        panel.set_aspect("equal")
        panel.set_xlim(-0.8, side - 0.2)
        panel.set_ylim(-2.1, side + 1.1)
    bar = figure.colorbar(
        axes[0].collections[0], ax=axes, location="bottom", shrink=0.5, aspect=40, pad=0.02
    )
    bar.set_label("hops to the nearest anchor of the set", fontsize=11, color=INK)
    bar.set_ticks([0, 1, 2, 5, 10, 15, 20])
    bar.outline.set_visible(False)
    save(figure, "positions")


if __name__ == "__main__":
    draw_symmetry()
    draw_architecture()
    draw_positions()
