"use strict";
// A chart for each column: our mean of each model against the paper's, with deviations.

const OURS = COLOURS[0];
const PAPERS = COLOURS[1];

function bars(cells, color) {
  return { type: "data", array: cells.map((cell) => cell[1]), color, thickness: 1.2, width: 3 };
}

// The paper's a little below ours, so that neither hides the other.
function dots(name, rows, cells, symbol, color, shift) {
  return {
    name,
    x: cells.map((cell) => cell[0]),
    y: rows.map((row) => row.place + shift),
    text: rows.map((row) => row.label),
    error_x: bars(cells, color),
    mode: "markers",
    marker: { symbol, size: 8, color },
    hovertemplate: `%{text}<br>${name}: %{x:.3f} ± %{error_x.array:.3f}<extra></extra>`,
  };
}

function drawColumn(table, column, place) {
  const at = (row) => row.cells[place];
  const rows = table.rows
    .filter((row) => row.kind === "model" && at(row))
    .map((row, index) => ({ ...row, place: index }));
  const published = rows.filter((row) => at(row).paper);
  const best = table.rows.find((row) => row.kind === "heuristic" && at(row)?.best);
  const ours = rows.map((row) => [at(row).mean, at(row).std]);
  const papers = published.map((row) => at(row).paper);
  const ends = [...ours, ...papers, ...(best ? [[at(best).mean, 0]] : [])];
  const least = Math.min(0.4, ...ends.map(([mean, std]) => Math.floor((mean - std) * 10) / 10));
  const line = best && { type: "line", x0: at(best).mean, x1: at(best).mean, yref: "paper", y0: 0, y1: 1 };
  draw(
    `chart-${table.protocol}-${column.name}`,
    [
      dots("the paper", published, papers, "diamond-open", PAPERS, 0.14),
      dots("ours", rows, ours, "circle", OURS, -0.14),
    ],
    {
      xaxis: axis({ range: [least - 0.02, 1.03], dtick: 0.1, tickformat: ".1f" }),
      yaxis: axis({
        range: [rows.length - 0.4, -0.6],
        tickvals: rows.map((row) => row.place),
        ticktext: rows.map((row) => row.label),
      }),
      margin: { l: 90, r: 10, t: 6, b: 28 },
      hovermode: "closest",
      shapes: best ? [{ ...line, line: { color: GREY, width: 1.5, dash: "dash" } }] : [],
    },
  );
}

for (const protocol of data.protocols) {
  for (const table of protocol.tables) {
    table.columns.forEach((column, place) => drawColumn(table, column, place));
  }
}
