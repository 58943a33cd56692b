"use strict";
// A chart for each column: our mean of each model against the paper's, with deviations.

const OURS = COLOURS[0];
const PAPERS = COLOURS[1];

// The paper's a little below ours, so that neither hides the other.
function dots(name, rows, cells, colour, shift, hollow) {
  return {
    name,
    x: cells.map((cell) => cell[0]),
    y: rows.map((row) => row.place + shift),
    errors: cells.map((cell) => cell[1]),
    colour,
    hollow,
    width: 0,
    size: 4.5,
    tell: (at) => [rows[at].label, `${name}: ${cells[at][0].toFixed(3)} \u00b1 ${cells[at][1].toFixed(3)}`],
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
  const height = [rows.length - 0.4, -0.6];
  const line = best && { x: [at(best).mean, at(best).mean], y: height, colour: GREY, dash: "5 4" };
  drawChart(`chart-${table.protocol}-${column.name}`, {
    x: { range: [least - 0.02, 1.03] },
    y: { range: height, ticks: rows.map((row) => ({ at: row.place, text: row.label })) },
    series: [
      ...(best ? [line] : []),
      dots("the paper", published, papers, PAPERS, 0.14, true),
      dots("ours", rows, ours, OURS, -0.14, false),
    ],
  });
}

for (const protocol of data.protocols) {
  for (const table of protocol.tables) {
    table.columns.forEach((column, place) => drawColumn(table, column, place));
  }
}
