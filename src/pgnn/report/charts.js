"use strict";
// What the pages share: their data, charts drawn as SVG in the colours of the page, and labels.

const data = JSON.parse(document.getElementById("pgnn-data").textContent);

// Okabe and Ito's colours, told apart by all kinds of colour vision, without black; the blue is
// lighter and the yellow darker than theirs, to be seen on white and on black.
const COLOURS = ["#2a85c7", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b8a800"];
const GREY = "#9aa0a8";
const RED = "#d7301f";

// An element of a drawing. What it says is text, whatever it holds: nothing here reads HTML.
function svg(tag, attributes, parent, text) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value != null) element.setAttribute(name, value);
  }
  if (text != null) element.textContent = text;
  parent?.append(element);
  return element;
}

function html(tag, className, parent, text) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text != null) element.textContent = text;
  parent?.append(element);
  return element;
}

// A dot and its meaning.
function addKey(id, colour, text, dotted = false) {
  const box = document.getElementById(id);
  if (!box) return;
  const key = html("span", "key", box);
  const dot = html("i", dotted ? "dotted" : "", key);
  dot.style.background = dot.style.borderColor = colour;
  html("bdi", "", key, text);
}

// ------------------------------------------------------------------ the label at the pointer

const tip = html("div", "tip", document.body);
tip.hidden = true;

function showTip(x, y, lines) {
  tip.replaceChildren(...lines.map((line) => html("div", "", null, line)));
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  const room = document.documentElement.clientWidth;
  tip.style.left = `${Math.max(4, Math.min(x + 12, room - width - 4)) + window.scrollX}px`;
  tip.style.top = `${(y > height + 16 ? y - height - 10 : y + 16) + window.scrollY}px`;
}

function hideTip() {
  tip.hidden = true;
}

// ------------------------------------------------------------------ charts

function ticksBetween(least, most, count) {
  const raw = (most - least) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(raw || 1));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= raw * 0.999) ?? raw;
  const ticks = [];
  for (let at = Math.ceil(least / step - 1e-9) * step; at <= most + 1e-9; at += step) {
    ticks.push({ at, text: String(Number(at.toPrecision(6))).replace("-", "\u2212") });
  }
  return ticks;
}

// Draw again whenever the box gets another width.
function whenResized(box, render) {
  let width = -1;
  const check = () => {
    if (box.clientWidth === width) return;
    width = box.clientWidth;
    render();
  };
  new ResizeObserver(check).observe(box);
  check();
}

// A chart of lines and points. An axis has a title, a range and perhaps ticks; a series has x, y,
// a colour, and perhaps a width (0: no line), a dash, a size of points (0: none), errors, and
// `tell`, which says of a point what its label says.
function drawChart(id, { x: across, y: up, series }) {
  const box = document.getElementById(id);
  if (box) whenResized(box, () => renderChart(box, across, up, series));
}

function renderChart(box, across, up, series) {
  const [width, height] = [box.clientWidth, box.clientHeight];
  const ticksX = across.ticks ?? ticksBetween(...across.range, Math.max(2, width / 90));
  const ticksY = up.ticks ?? ticksBetween(...up.range, Math.max(2, height / 60));
  const longest = Math.max(...ticksY.map((tick) => tick.text.length));
  const left = Math.min(8 + 6.6 * longest, width * 0.4) + (up.title ? 20 : 4);
  const [right, top, bottom] = [12, 10, across.title ? 42 : 24];
  const along = (value, [low, high], from, to) => from + ((value - low) / (high - low)) * (to - from);
  const toX = (value) => along(value, across.range, left, width - right);
  const toY = (value) => along(value, up.range, height - bottom, top);
  const root = svg("svg", { width, height, class: "plot" });
  for (const { at, text } of ticksX) {
    svg("line", { class: "grid", x1: toX(at), x2: toX(at), y1: top, y2: height - bottom }, root);
    const place = { class: "tick x", x: toX(at), y: height - bottom + 16, "text-anchor": "middle" };
    svg("text", place, root, text);
  }
  for (const { at, text } of ticksY) {
    svg("line", { class: "grid", x1: left, x2: width - right, y1: toY(at), y2: toY(at) }, root);
    svg("text", { class: "tick y", x: left - 6, y: toY(at) + 4, "text-anchor": "end" }, root, text);
  }
  const middle = { x: (left + width - right) / 2, y: height - 6, "text-anchor": "middle" };
  if (across.title) svg("text", { class: "title", ...middle }, root, across.title);
  const turned = `translate(12 ${(top + height - bottom) / 2}) rotate(-90)`;
  if (up.title) {
    svg("text", { class: "title", transform: turned, "text-anchor": "middle" }, root, up.title);
  }
  const points = [];
  for (const one of series) drawSeries(root, one, toX, toY, points);
  root.addEventListener("pointermove", (event) => tellNearest(event, root, points));
  root.addEventListener("pointerleave", hideTip);
  box.replaceChildren(root);
}

function drawSeries(root, one, toX, toY, points) {
  const layer = svg("g", { class: "series", "data-name": one.name ?? "" }, root);
  const places = one.x.map((value, index) => [toX(value), toY(one.y[index])]);
  const width = one.width ?? 1.5;
  if (width) {
    const d = places.map(([px, py], at) => `${at ? "L" : "M"}${px.toFixed(1)} ${py.toFixed(1)}`);
    const style = { stroke: one.colour, "stroke-width": width, "stroke-dasharray": one.dash };
    svg("path", { class: "line", d: d.join(""), fill: "none", ...style }, layer);
  }
  places.forEach(([px, py], index) => {
    const error = one.errors?.[index];
    if (error) {
      const [x1, x2] = [toX(one.x[index] - error), toX(one.x[index] + error)];
      svg("line", { x1, x2, y1: py, y2: py, stroke: one.colour, "stroke-width": 1.2 }, layer);
    }
    const size = Array.isArray(one.size) ? one.size[index] : one.size;
    if (size && one.hollow) {
      const d = `M${px} ${py - size}l${size} ${size} ${-size} ${size} ${-size} ${-size}z`;
      svg("path", { class: "point", d, fill: "none", stroke: one.colour, "stroke-width": 1.6 }, layer);
    } else if (size) {
      svg("circle", { class: "point", cx: px, cy: py, r: size, fill: one.colour }, layer);
    }
    if (one.tell) points.push({ px, py, lines: () => one.tell(index) });
  });
}

function tellNearest(event, root, points) {
  const frame = root.getBoundingClientRect();
  const [x, y] = [event.clientX - frame.left, event.clientY - frame.top];
  let [nearest, least] = [null, 26];
  for (const point of points) {
    const apart = Math.hypot(point.px - x, point.py - y);
    if (apart < least) [nearest, least] = [point, apart];
  }
  if (nearest) showTip(event.clientX, event.clientY, nearest.lines());
  else hideTip();
}

// ------------------------------------------------------------------ tables that are too wide

// A shade at the right, and words above, as long as a part of a table is out of sight.
for (const box of document.querySelectorAll(".scroll")) {
  const hint = html("p", "scroll-hint", null, "Swipe or scroll sideways to see the rest \u2192");
  box.before(hint);
  const check = () => {
    const hidden = box.scrollWidth - box.clientWidth - box.scrollLeft > 4;
    box.classList.toggle("more", hidden);
    hint.hidden = box.scrollWidth - box.clientWidth <= 4;
  };
  box.addEventListener("scroll", check, { passive: true });
  new ResizeObserver(check).observe(box);
  check();
}
