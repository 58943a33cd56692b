"""Write small files like those that people bring: citations, a shop with dates, people with teams.

Run `python examples/sample_files.py FOLDER`; docs/own-data.md shows what the commands make of them.

- citations.csv: papers cite older ones, rather of their own field, rather those that others cite.
- orders.csv: customers buy products at a date; they have tastes, and some products are popular.
- friends.csv and people.csv: who knows whom, and what is known of them; a third of the teams is
  blank.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from pathlib import Path

import numpy as np


def citations(rng: np.random.Generator, papers: int = 800, fields: int = 8) -> list[list[object]]:
    """Return (citing, cited): each paper cites some older ones."""
    field = rng.integers(fields, size=papers)
    times_cited = np.ones(papers)
    rows: list[list[object]] = []
    for paper in range(1, papers):
        older = np.arange(paper)
        liking = times_cited[:paper] * np.where(field[:paper] == field[paper], 20.0, 1.0)
        liking = liking * np.exp((older - paper) / 300)  # old papers are forgotten
        count = min(1 + rng.poisson(5), paper)
        cited = rng.choice(older, size=count, replace=False, p=liking / liking.sum())
        for other in cited:
            times_cited[other] += 1
            rows.append([f"paper{paper:03d}", f"paper{other:03d}"])
    return rows


def orders(
    rng: np.random.Generator, customers: int = 600, products: int = 200, days: int = 500
) -> list[list[object]]:
    """Return (customer, product, quantity, date) of about ten orders per customer."""
    tastes, kind = rng.dirichlet(np.full(10, 0.15), size=customers), rng.integers(10, size=products)
    popularity = rng.pareto(1.2, size=products) + 0.2
    rows: list[list[object]] = []
    for customer in range(customers):
        liking = popularity * (tastes[customer, kind] + 0.01)
        for _ in range(rng.poisson(10)):
            product = rng.choice(products, p=liking / liking.sum())
            day = date(2025, 1, 1) + timedelta(days=int(rng.integers(days)))
            rows.append([f"C{customer:04d}", f"P{product:03d}", int(rng.integers(1, 4)), day])
    return sorted(rows, key=lambda row: str(row[3]))


def people(rng: np.random.Generator, count: int = 300) -> tuple[list[list[object]], ...]:
    """Return (person, friend), and (id, age, city, team) with blanks."""
    team = rng.integers(6, size=count)
    city = np.array(["Oslo", "Rome", "Lima"])[rng.integers(3, size=count)]
    first, second = np.triu_indices(count, 1)
    chance = np.where(team[first] == team[second], 0.12, 0.006)
    joined = rng.random(len(first)) < chance
    friends: list[list[object]] = [
        [f"p{u:03d}", f"p{v:03d}"] for u, v in zip(first[joined], second[joined], strict=True)
    ]
    rows: list[list[object]] = [
        [
            f"p{who:03d}",
            "" if rng.random() < 0.1 else int(20 + 3 * team[who] + rng.integers(15)),
            city[who],
            "" if rng.random() < 0.33 else f"team {'ABCDEF'[team[who]]}",
        ]
        for who in range(count)
    ]
    return friends, rows


def write(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a table."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
    print(path)


def main() -> None:
    """Write all files into the folder that was named."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    write(folder / "citations.csv", ("citing", "cited"), citations(rng))
    write(folder / "orders.csv", ("customer", "product", "quantity", "date"), orders(rng))
    friends, rows = people(rng)
    write(folder / "friends.csv", ("person", "friend"), friends)
    write(folder / "people.csv", ("id", "age", "city", "team"), rows)


if __name__ == "__main__":
    main()
