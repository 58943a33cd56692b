"use strict";
// What both pages share: their data, and charts that look like the page.

const data = JSON.parse(document.getElementById("pgnn-data").textContent);

// Okabe and Ito's colours, told apart by all kinds of colour vision, without black; the blue is
// lighter and the yellow darker than theirs, to be seen on white and on black.
const COLOURS = ["#2a85c7", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b8a800"];
const GREY = "#9aa0a8";
const RED = "#d7301f";
const FONT = { family: getComputedStyle(document.body).fontFamily, size: 12 };

// Plotly reads some HTML in texts; an id or a name must be shown as it is.
function shown(text) {
  return String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}

function axis(extra) {
  return { zeroline: false, fixedrange: true, automargin: true, ...extra };
}

function layout(extra) {
  return {
    font: FONT,
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    margin: { l: 50, r: 16, t: 16, b: 40 },
    dragmode: false,
    showlegend: false,
    hoverlabel: { bgcolor: "#2b3440", bordercolor: "#2b3440", font: { ...FONT, color: "#ffffff" } },
    ...extra,
  };
}

function draw(id, traces, extra, config) {
  const box = document.getElementById(id);
  if (!box) return;
  Plotly.newPlot(box, traces, layout(extra), {
    responsive: true,
    displaylogo: false,
    displayModeBar: false,
    ...config,
  });
}

// A dot and its meaning; what it says is text, whatever it holds.
function addKey(id, color, text) {
  const key = document.createElement("span");
  key.className = "key";
  const dot = document.createElement("i");
  dot.style.background = color;
  const name = document.createElement("bdi");
  name.textContent = text;
  key.append(dot, name);
  document.getElementById(id)?.append(key);
}
