"use strict";
// The drawing of the graph, the map of embeddings, and the picker that colours both.

const nodes = data.nodes;
const picker = document.getElementById("anchor-set");
const wide = window.matchMedia("(pointer: fine)").matches;

function tint(colour, round) {
  // After seven communities the colours repeat, lighter and then darker.
  const target = [null, 255, 0][round % 3];
  if (target === null) return colour;
  const parts = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  return `rgb(${parts.map((part) => Math.round(part + (target - part) * 0.45)).join(",")})`;
}

function communityColour(code) {
  return tint(COLOURS[code % COLOURS.length], Math.floor(code / COLOURS.length));
}

// Traces of a drawing of nodes, in this order; the picker restyles the last two.
function nodeTraces(places, count, size) {
  const name = { mode: "markers", hoverinfo: "text" };
  return [
    {
      ...name,
      name: "nodes",
      x: places.x.slice(0, count),
      y: places.y.slice(0, count),
      marker: { size, line: { width: 0.7, color: "#ffffff" }, colorscale: "Viridis" },
    },
    {
      ...name,
      name: "members",
      x: [],
      y: [],
      marker: { size, symbol: "diamond", color: RED, line: { width: 1, color: "#ffffff" } },
    },
  ];
}

function plane(equal) {
  const hidden = { visible: false, zeroline: false, showgrid: false, fixedrange: false };
  return {
    xaxis: { ...hidden },
    yaxis: { ...hidden, ...(equal ? { scaleanchor: "x" } : {}) },
    margin: { l: 12, r: 12, t: 12, b: 58 },
    // On a screen that is touched, dragging must scroll the page.
    dragmode: wide ? "pan" : false,
    hovermode: "closest",
  };
}

function drawPlanes() {
  const { x, y, edges, num_drawn: count } = data.graph;
  const lines = { x: [], y: [] };
  for (const [u, v] of edges) {
    lines.x.push(x[u], x[v], null);
    lines.y.push(y[u], y[v], null);
  }
  const size = count > 400 ? 7 : count > 200 ? 8 : count > 60 ? 10 : 14;
  const edgeTrace = {
    ...lines,
    name: "edges",
    mode: "lines",
    hoverinfo: "skip",
    line: { color: `rgba(125,135,150,${edges.length > 2500 ? 0.2 : 0.45})`, width: 1 },
  };
  const config = { displayModeBar: wide ? "hover" : false, scrollZoom: false };
  const buttons = ["zoom2d", "select2d", "lasso2d", "autoScale2d", "toImage"];
  config.modeBarButtonsToRemove = buttons;
  draw("graph-chart", [edgeTrace, ...nodeTraces(data.graph, count, size)], plane(true), config);
  const all = nodes.ids.length;
  draw("map-chart", nodeTraces(data.map, all, all > 700 ? 6 : size), plane(false), config);
}

const measure = data.measure;
const isShare = measure.kind === "pagerank";

function percent(share) {
  return `${Number((100 * share).toPrecision(3))}%`;
}

function valueText(value) {
  if (value == null) return "not reached";
  if (isShare) return `${percent(value)} of the walk`;
  if (measure.kind === "lengths") return `length ${Number(value.toPrecision(4))}`;
  return value === 1 ? "1 hop" : `${value} hops`;
}

function hoverText(node, set) {
  const lines = [`node ${shown(nodes.ids[node])}`];
  if (nodes.label) lines.push(`community ${shown(nodes.classes[nodes.label[node]])}`);
  lines.push(`${nodes.degree[node]} neighbours`);
  if (set) lines.push(`to set ${set.number}: ${valueText(set.values[node])}`);
  return lines.join("<br>");
}

function colourBar(title, values) {
  const largest = values.reduce((most, value) => Math.max(most, value ?? 0), 0);
  const whole = values.every((value) => value == null || Number.isInteger(value));
  return {
    orientation: "h",
    x: 0.5,
    y: 0,
    yanchor: "top",
    ypad: 4,
    len: 0.7,
    thickness: 10,
    outlinewidth: 0,
    title: { text: title, side: "bottom" },
    ...(whole && largest <= 8 ? { dtick: 1, tick0: 0 } : { nticks: 8 }),
  };
}

// Shares of a walk's time differ by powers of ten, so they are coloured by their logarithm.
function markingOfShares(set) {
  const powers = set.values.map((share) => (share == null ? null : Math.log10(share)));
  const known = powers.filter((power) => power != null);
  const least = Math.floor(Math.min(-1, ...known));
  const ticks = Array.from({ length: 1 - least }, (_, step) => least + step);
  return {
    color: powers.map((power) => (power == null ? GREY : power)),
    showscale: true,
    cmin: least,
    cmax: Math.max(...known, least + 1),
    reversescale: false,
    colorbar: {
      ...colourBar(`${measure.axis} set ${set.number}`, powers),
      tickmode: "array",
      tickvals: ticks,
      ticktext: ticks.map((power) => percent(10 ** power)),
    },
  };
}

// What the nodes look like: by position to a set, by community, or by degree.
function marking(set) {
  if (set && isShare) return markingOfShares(set);
  const numbers = set ? set.values : nodes.label ? null : nodes.degree;
  if (!numbers) return { color: nodes.label.map(communityColour), showscale: false };
  const known = numbers.filter((value) => value != null);
  const least = set ? 0 : Math.min(...known);
  const title = set ? `${measure.axis} set ${set.number}` : "neighbours";
  return {
    color: numbers.map((value) => (value == null ? GREY : value)),
    showscale: true,
    cmin: least,
    cmax: Math.max(...known, least + 1),
    reversescale: Boolean(set),
    colorbar: colourBar(title, numbers),
  };
}

function recolour(id, places, count, set) {
  const box = document.getElementById(id);
  const first = box.data.length - 2;
  const mark = marking(set);
  const members = set ? set.members.filter((node) => node < count) : [];
  const every = Array.from({ length: count }, (_, node) => node);
  const update = { hovertext: [every.map((node) => hoverText(node, set))] };
  for (const [key, value] of Object.entries(mark)) {
    update[`marker.${key}`] = [key === "color" ? value.slice(0, count) : value];
  }
  const crowded = members.length > count / 8;
  const marked = {
    "marker.size": box.data[first].marker.size + (crowded ? 1 : 5),
    x: [members.map((node) => places.x[node])],
    y: [members.map((node) => places.y[node])],
    hovertext: [members.map((node) => hoverText(node, set))],
  };
  return Plotly.restyle(box, update, [first]).then(() => Plotly.restyle(box, marked, [first + 1]));
}

// The members of a set in words: "the red node", "the nearest of the 12 nodes of this set".
function membersText(set, all) {
  const count = set.size.toLocaleString("en");
  if (set.size === 1) return all ? "the red node" : "the one node of this set";
  return `${measure.nearest}the ${count} ${all ? "red nodes" : "nodes of this set"}`;
}

function explanation(set) {
  if (!set && !nodes.label) return "Each node's colour is its number of neighbours.";
  if (!set) return "Each colour is a community, as the data labels the nodes.";
  const { num_drawn: drawn, num_nodes: total } = data.graph;
  const visible = set.members.filter((node) => node < drawn).length;
  const all = drawn === total;
  let text = `Each node's colour is ${measure.colour} ${membersText(set, all)}`;
  if (all) text += ".";
  else if (!visible) text += ", not drawn here.";
  else text += `; ${visible.toLocaleString("en")} of them drawn here, in red.`;
  const more = [measure.unit, measure.reading, set.values.includes(null) ? measure.unreached : ""];
  return [text, ...more.filter(Boolean)].join(" ");
}

function pick() {
  const set = picker.value === "" ? null : data.sets[Number(picker.value)];
  document.getElementById("anchor-text").textContent = explanation(set);
  document.getElementById("community-keys").hidden = Boolean(set);
  return Promise.all([
    recolour("graph-chart", data.graph, data.graph.num_drawn, set),
    recolour("map-chart", data.map, nodes.ids.length, set),
  ]);
}

function step(by) {
  const count = picker.options.length;
  picker.selectedIndex = (picker.selectedIndex + by + count) % count;
  pick();
}

// Point at a node in one drawing, and it is named in the other as well.
function followEachOther() {
  const boxes = ["graph-chart", "map-chart"].map((id) => document.getElementById(id));
  let busy = false;
  boxes.forEach((box, index) => {
    const other = boxes[1 - index];
    const [from, to] = [box.data.length - 2, other.data.length - 2];
    const quietly = (action) => {
      if (busy) return;
      busy = true;
      action();
      busy = false;
    };
    box.on("plotly_hover", ({ points: [point] }) => {
      const set = data.sets[Number(picker.value)];
      const isMember = point.curveNumber !== from;
      const node = isMember ? set.members[point.pointNumber] : point.pointNumber;
      if (node >= other.data[to].x.length) return;
      quietly(() => Plotly.Fx.hover(other, [{ curveNumber: to, pointNumber: node }]));
    });
    box.on("plotly_unhover", () => quietly(() => Plotly.Fx.unhover(other)));
  });
}

if (nodes.classes.length <= 12) {
  nodes.classes.forEach((name, code) => addKey("community-keys", communityColour(code), name));
}
drawPlanes();
followEachOther();
pick();
picker.addEventListener("change", pick);
document.getElementById("previous-set").addEventListener("click", () => step(-1));
document.getElementById("next-set").addEventListener("click", () => step(1));
