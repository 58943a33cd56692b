"use strict";
// Drawings of nodes: the graph, and the map of embeddings. What colours them, and what is lit.

const nodes = data.nodes;
const SCALE = ["#433e85", "#38598c", "#2d708e", "#25858e", "#1e9b8a", "#2ab07f", "#52c569", "#86d549", "#c2df23", "#fde725"];

function fromScale(share) {
  const place = Math.min(Math.max(share, 0), 1) * (SCALE.length - 1);
  const low = Math.min(Math.floor(place), SCALE.length - 2);
  const part = (colour, at) => parseInt(colour.slice(at, at + 2), 16);
  const mixed = [1, 3, 5].map((at) => {
    const [from, to] = [part(SCALE[low], at), part(SCALE[low + 1], at)];
    return Math.round(from + (to - from) * (place - low));
  });
  return `rgb(${mixed.join(", ")})`;
}

function tint(colour, round) {
  // After seven communities the colours repeat, lighter and then darker.
  const target = [null, 255, 0][round % 3];
  if (target === null) return colour;
  const parts = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  return `rgb(${parts.map((part) => Math.round(part + (target - part) * 0.45)).join(", ")})`;
}

function communityColour(code) {
  return tint(COLOURS[code % COLOURS.length], Math.floor(code / COLOURS.length));
}

// ------------------------------------------------------------------ what colours mean

function percent(share) {
  return `${Number((100 * share).toPrecision(3))}%`;
}

// Colours of numbers, null for grey, and the scale that explains them.
function colouring(title, values, { log = false, reversed = false, least, tick = String }) {
  const known = values.filter((value) => value != null);
  const place = log ? Math.log10 : (value) => value;
  let low = place(least ?? known.reduce((a, b) => Math.min(a, b), Infinity));
  let high = place(known.reduce((a, b) => Math.max(a, b), -Infinity));
  if (!known.length) [low, high] = [0, 1];
  if (high <= low) high = low + 1;
  const share = (value) => (place(value) - low) / (high - low);
  const colour = (value) => fromScale(reversed ? 1 - share(value) : share(value));
  let ticks = log ? logTicks(low, high) : ticksBetween(low, high, 6).map((one) => one.at);
  if (!log && known.every(Number.isInteger)) ticks = ticks.filter(Number.isInteger);
  return {
    title,
    reversed,
    fills: values.map((value) => (value == null ? GREY : colour(value))),
    ticks: ticks.map((value) => ({ at: share(value), text: tick(value) })),
  };
}

// 1, 2, 5, 10, 20, ... or powers of ten alone where these are enough.
function logTicks(low, high) {
  const steps = high - low > 2.5 ? [1] : [1, 2, 5];
  const ticks = [];
  for (let power = Math.floor(low) - 1; power <= high; power += 1) {
    for (const step of steps) {
      const at = Math.log10(step) + power;
      if (at >= low - 1e-9 && at <= high + 1e-9) ticks.push(Number((step * 10 ** power).toPrecision(6)));
    }
  }
  return ticks;
}

// Most nodes have few neighbours and a few have many, so degrees are coloured by their logarithm.
function byDegree() {
  const degrees = nodes.degree.map((degree) => degree || null);
  return colouring("neighbours, on a log scale", degrees, { log: true });
}

function byGroup(codes) {
  return { fills: codes.map(communityColour), ticks: null };
}

function showScale(id, { title, ticks, reversed }) {
  const box = document.getElementById(id);
  box.replaceChildren();
  box.hidden = !ticks;
  if (!ticks) return;
  const bar = html("div", "scale-bar", box);
  const colours = reversed ? [...SCALE].reverse() : SCALE;
  bar.style.background = `linear-gradient(to right, ${colours.join(", ")})`;
  const marks = html("div", "scale-ticks", box);
  for (const { at, text } of ticks) html("span", "", marks, text).style.left = `${100 * at}%`;
  html("div", "scale-title", box, title);
}

// ------------------------------------------------------------------ a drawing

function nodeName(node) {
  return String(nodes.ids[node]);
}

function aboutNode(node) {
  const lines = [`node ${nodeName(node)}`];
  if (nodes.label) lines.push(`label ${nodes.classes[nodes.label[node]]}`);
  lines.push(nodes.degree[node] === 1 ? "1 neighbour" : `${nodes.degree[node].toLocaleString("en")} neighbours`);
  return lines;
}

class Drawing {
  // `places` has x and y of nodes; `edges` are pairs of them; `equal` keeps the shape.
  constructor(id, places, { edges = [], equal = true, tell = aboutNode }) {
    Object.assign(this, { box: document.getElementById(id), places, edges, equal, tell });
    this.count = places.x.length;
    this.fills = nodes.degree.map(() => GREY);
    this.members = [];
    this.links = [];
    this.heldOut = [];
    this.lit = null;
    this.view = { zoom: 1, x: 0, y: 0 };
    this.onNode = () => {};
    this.onLink = () => {};
    this.onPoint = () => {};
    this.build();
    whenResized(this.box, () => this.place());
    this.listen();
  }

  build() {
    this.root = svg("svg", { class: "drawing" });
    this.world = svg("g", {}, this.root);
    for (const name of ["far", "near", "heldOut", "linkLines", "litLines", "dots", "marks", "ringLayer", "labels"]) {
      this[name] = svg("g", { class: name.replace(/[A-Z]/g, (c) => `-${c.toLowerCase()}`) }, this.world);
    }
    this.heldOutLayer = this.heldOut;
    this.heldOut = [];
    this.circles = Array.from({ length: this.count }, (_, node) =>
      svg("circle", { class: "node", "data-node": node }, this.dots),
    );
    this.box.replaceChildren(this.root);
  }

  // Where nodes are in the box, in pixels.
  place() {
    const [width, height] = [this.box.clientWidth, this.box.clientHeight];
    this.size = { width, height };
    this.root.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const { x, y } = this.places;
    const ends = (values) => values.reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)], [Infinity, -Infinity]);
    const [[left, right], [low, high]] = [ends(x), ends(y)];
    const [pad, buttons] = [22, 34]; // the buttons at the right hide no node
    let [sx, sy] = [(width - 2 * pad - buttons) / (right - left || 1), (height - 2 * pad) / (high - low || 1)];
    if (this.equal) sx = sy = Math.min(sx, sy, right - left || high - low ? Infinity : 1);
    const [cx, cy] = [(left + right) / 2, (low + high) / 2];
    this.px = x.map((value) => (width - buttons) / 2 + (value - cx) * sx);
    this.py = y.map((value) => height / 2 - (value - cy) * sy);
    this.drawEdges();
    this.circles.forEach((circle, node) => {
      circle.setAttribute("cx", this.px[node].toFixed(1));
      circle.setAttribute("cy", this.py[node].toFixed(1));
    });
    this.refresh();
  }

  // Edges inside a community are seen, those between communities are a shimmer.
  drawEdges() {
    const many = this.edges.length > 600;
    const groups = { near: [], far: [] };
    for (const [u, v] of this.edges) {
      groups[many && nodes.community[u] !== nodes.community[v] ? "far" : "near"].push(this.segment(u, v));
    }
    for (const [name, parts] of Object.entries(groups)) {
      this[name].replaceChildren();
      this[name].style.strokeOpacity = many ? { near: 0.3, far: 0.09 }[name] : 0.55;
      for (let at = 0; at < parts.length; at += 300) {
        svg("path", { class: "edge", d: parts.slice(at, at + 300).join("") }, this[name]);
      }
    }
  }

  segment(u, v) {
    return `M${this.px[u].toFixed(1)} ${this.py[u].toFixed(1)}L${this.px[v].toFixed(1)} ${this.py[v].toFixed(1)}`;
  }

  radius(node) {
    const base = this.count > 2500 ? 2.3 : this.count > 1000 ? 2.9 : this.count > 350 ? 3.9 : this.count > 100 ? 5 : 6.5;
    const most = (this.most ??= Math.log1p(nodes.degree.reduce((a, b) => Math.max(a, b), 1)));
    const narrow = this.size.width < 480 ? 0.75 : 1;
    return (base * narrow * (0.75 + 0.75 * (Math.log1p(nodes.degree[node]) / most))) / Math.sqrt(this.view.zoom);
  }

  // Everything that follows the zoom, the colours and what is lit.
  refresh() {
    if (!this.size) return;
    const { zoom, x, y } = this.view;
    this.world.setAttribute("transform", `translate(${x} ${y}) scale(${zoom})`);
    this.root.classList.toggle("focused", Boolean(this.lit));
    const lit = new Set(this.lit?.nodes ?? []);
    const hidden = new Set(this.members);
    this.circles.forEach((circle, node) => {
      circle.setAttribute("r", this.radius(node).toFixed(2));
      circle.setAttribute("fill", this.fills[node]);
      circle.classList.toggle("lit", lit.has(node));
      circle.classList.toggle("member", hidden.has(node));
    });
    this.drawMembers();
    this.drawLinks();
    this.drawLit();
  }

  drawMembers() {
    const size = Math.max(this.members.length > 300 ? 3.4 : 5.5, 1.6) / this.view.zoom ** 0.6;
    this.marks.replaceChildren();
    for (const node of this.members) {
      const d = `M${this.px[node]} ${this.py[node] - size}l${size} ${size} ${-size} ${size} ${-size} ${-size}z`;
      svg("path", { class: "anchor", d, fill: RED, "data-node": node }, this.marks);
    }
  }

  drawLinks() {
    this.heldOutLayer.replaceChildren();
    this.heldOutLayer.style.strokeOpacity = this.heldOut.length > 150 ? 0.35 : 0.75;
    for (let at = 0; at < this.heldOut.length; at += 300) {
      const d = this.heldOut.slice(at, at + 300).map(([u, v]) => this.segment(u, v)).join("");
      svg("path", { class: "held-out-edge", d }, this.heldOutLayer);
    }
    this.linkLines.replaceChildren();
    this.links.forEach(({ ends: [u, v], index }) => {
      if (u < 0 || v < 0) return;
      const line = { x1: this.px[u], y1: this.py[u], x2: this.px[v], y2: this.py[v] };
      const chosen = this.lit?.link === index ? " chosen" : "";
      svg("line", { ...line, class: `predicted${chosen}` }, this.linkLines);
      const target = svg("line", { ...line, class: "predicted-target", "data-link": index }, this.linkLines);
      target.addEventListener("click", (event) => {
        event.stopPropagation();
        this.onLink(index);
      });
    });
  }

  drawLit() {
    for (const layer of [this.litLines, this.ringLayer, this.labels]) layer.replaceChildren();
    if (!this.lit) return;
    const zoom = this.view.zoom;
    for (const [u, v] of this.lit.spokes) svg("path", { class: "spoke", d: this.segment(u, v) }, this.litLines);
    for (const [u, v] of this.lit.steps) svg("path", { class: "step", d: this.segment(u, v) }, this.litLines);
    for (const node of this.lit.ends) {
      const ring = { cx: this.px[node], cy: this.py[node], r: this.radius(node) + 3.5 / zoom };
      svg("circle", { ...ring, class: "ring", "stroke-width": 2 / zoom }, this.ringLayer);
    }
    for (const node of this.lit.named) {
      const isEnd = this.lit.ends.includes(node);
      const screen = this.px[node] * zoom + this.view.x;
      const side = screen > this.size.width * 0.75 ? -1 : 1;
      const place = {
        x: this.px[node] + (side * (this.radius(node) * zoom + 6)) / zoom,
        y: this.py[node] + 4 / zoom,
        "text-anchor": side < 0 ? "end" : "start",
        "font-size": (isEnd ? 13 : 11) / zoom,
        "stroke-width": 3.5 / zoom,
        class: isEnd ? "name end" : "name",
      };
      svg("text", place, this.labels, shortened(nodeName(node)));
    }
  }

  colour(fills, members = []) {
    this.fills = fills;
    this.members = members.filter((node) => node < this.count);
    this.refresh();
  }

  light(lit) {
    this.lit = lit;
    this.view = { zoom: 1, x: 0, y: 0 };
    if (lit) this.fit(lit.fit);
    this.refresh();
  }

  // Show some nodes as large as leaves room around them.
  fit(some) {
    const ends = (values) => [Math.min(...values), Math.max(...values)];
    const [left, right] = ends(some.map((node) => this.px[node]));
    const [top, bottom] = ends(some.map((node) => this.py[node]));
    const { width, height } = this.size;
    const room = 0.55 * Math.min(width / (right - left + 1), height / (bottom - top + 1));
    const zoom = Math.min(Math.max(room, 1), 8);
    const [cx, cy] = [(left + right) / 2, (top + bottom) / 2];
    this.view = { zoom, x: width / 2 - cx * zoom, y: height / 2 - cy * zoom };
  }

  zoomBy(factor, at = { x: this.size.width / 2, y: this.size.height / 2 }) {
    const zoom = Math.min(Math.max(this.view.zoom * factor, 1), 30);
    const by = zoom / this.view.zoom;
    this.view = { zoom, x: at.x - (at.x - this.view.x) * by, y: at.y - (at.y - this.view.y) * by };
    if (zoom === 1) this.view = { zoom, x: 0, y: 0 };
    this.refresh();
  }

  // The node at a place of the screen; null if none is near.
  nodeAt(event) {
    const frame = this.root.getBoundingClientRect();
    const { zoom, x, y } = this.view;
    const [ex, ey] = [(event.clientX - frame.left - x) / zoom, (event.clientY - frame.top - y) / zoom];
    let [nearest, least] = [null, 12 / zoom];
    for (let node = 0; node < this.count; node += 1) {
      const apart = Math.hypot(this.px[node] - ex, this.py[node] - ey);
      if (apart < least) [nearest, least] = [node, apart];
    }
    return nearest;
  }

  listen() {
    let from = null;
    let moved = false;
    this.root.addEventListener("pointerdown", (event) => {
      // On a screen that is touched, dragging must scroll the page.
      if (event.pointerType === "mouse") from = { x: event.clientX, y: event.clientY, view: this.view };
      moved = false;
    });
    window.addEventListener("pointerup", () => (from = null));
    this.root.addEventListener("pointermove", (event) => {
      if (from && Math.hypot(event.clientX - from.x, event.clientY - from.y) > 4) {
        moved = true;
        const { zoom, x, y } = from.view;
        this.view = { zoom, x: x + event.clientX - from.x, y: y + event.clientY - from.y };
        this.world.setAttribute("transform", `translate(${this.view.x} ${this.view.y}) scale(${zoom})`);
        return;
      }
      const node = this.nodeAt(event);
      this.onPoint(node);
      if (node == null) hideTip();
      else showTip(event.clientX, event.clientY, this.tell(node));
    });
    this.root.addEventListener("pointerleave", () => {
      hideTip();
      this.onPoint(null);
    });
    this.root.addEventListener("click", (event) => {
      if (moved) return;
      const node = this.nodeAt(event);
      if (node != null) this.onNode(node);
    });
    this.root.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return; // the wheel alone scrolls the page
      event.preventDefault();
      const frame = this.root.getBoundingClientRect();
      this.zoomBy(event.deltaY < 0 ? 1.25 : 0.8, { x: event.clientX - frame.left, y: event.clientY - frame.top });
    }, { passive: false });
    for (const button of this.box.parentElement.querySelectorAll("[data-zoom]")) {
      button.addEventListener("click", () => this.zoomBy(Number(button.dataset.zoom)));
    }
  }

  // Mark a node that is pointed at in another drawing.
  mark(node) {
    this.ringLayer.replaceChildren();
    this.labels.replaceChildren();
    if (node == null || node >= this.count) return;
    const zoom = this.view.zoom;
    const ring = { cx: this.px[node], cy: this.py[node], r: this.radius(node) + 4 / zoom };
    svg("circle", { ...ring, class: "ring", "stroke-width": 2 / zoom }, this.ringLayer);
    const place = { x: ring.cx, y: ring.cy - ring.r - 5 / zoom, "text-anchor": "middle" };
    const font = { "font-size": 12 / zoom, "stroke-width": 3.5 / zoom };
    svg("text", { ...place, ...font, class: "name end" }, this.labels, `node ${shortened(nodeName(node))}`);
  }
}

function shortened(text) {
  return text.length > 28 ? `${text.slice(0, 26)}\u2026` : text;
}
