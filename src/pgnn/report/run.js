"use strict";
// The page of a run: the list of links, the curves, the graph with its panel, and the positions.

// ------------------------------------------------------------------ how good

function drawTraining() {
  const range = (values) => {
    const known = values.filter((value) => value != null);
    const [low, high] = [Math.min(...known), Math.max(...known)];
    const room = (high - low || Math.abs(high) || 1) * 0.08;
    return [low - room, high + room];
  };
  const evaluated = data.history.filter((epoch) => epoch.val_auc != null);
  for (const [id, records, key, title, colour] of [
    ["loss-chart", data.history.filter((epoch) => epoch.loss != null), "loss", "loss", COLOURS[0]],
    ["val-chart", evaluated, "val_auc", "validation AUC", COLOURS[5]],
  ]) {
    if (!records.length) continue;
    const epochs = data.history.map((epoch) => epoch.epoch);
    const last = Math.max(...epochs);
    const vertical = range(records.map((epoch) => epoch[key]));
    drawChart(id, {
      x: { title: "epoch", range: [Math.min(...epochs), last === Math.min(...epochs) ? last + 1 : last] },
      y: { title, range: vertical },
      series: [
        {
          name: title,
          x: records.map((epoch) => epoch.epoch),
          y: records.map((epoch) => epoch[key]),
          colour,
          size: records.length > 60 ? 0 : 2.5,
          tell: (at) => [`epoch ${records[at].epoch}`, `${title} ${records[at][key].toFixed(4)}`],
        },
        { x: [data.best_epoch, data.best_epoch], y: vertical, colour: GREY, dash: "5 4" },
      ],
    });
  }
}

// A curve may be called as its row is, or as its row is without what stands there in brackets.
function areaOf(name) {
  const row = data.rows.find((one) => one.name === name || one.name.startsWith(`${name} (`));
  return row?.metrics.roc_auc;
}

function drawRoc() {
  if (!Object.keys(data.roc).length) return;
  const curves = Object.entries(data.roc).map(([name, curve], index) => {
    const area = areaOf(name);
    const colour = COLOURS[index % COLOURS.length];
    const dotted = index >= COLOURS.length;
    addKey("roc-keys", colour, name + (area == null ? "" : ` (${area.toFixed(3)})`), dotted);
    return {
      name,
      x: curve.fpr,
      y: curve.tpr,
      colour,
      width: index ? 1.3 : 3,
      dash: dotted ? "2 3" : null,
      tell: (at) => [name, `${percent(curve.tpr[at])} of those that belong`, `${percent(curve.fpr[at])} of the others`],
    };
  });
  drawChart("roc-chart", {
    x: { title: "share of other pairs", range: [0, 1] },
    y: { title: "share of pairs that belong", range: [0, 1] },
    // The model's curve comes last, over the others.
    series: [{ x: [0, 1], y: [0, 1], colour: GREY, width: 1, dash: "5 4" }, ...curves.slice(1), curves[0]],
  });
}

function drawCalibration() {
  const bins = data.calibration;
  if (!bins.length) return;
  const most = Math.max(...bins.map((bin) => bin.num_pairs));
  drawChart("calibration-chart", {
    x: { title: "chance that the model gives", range: [0, 1] },
    y: { title: "share that belongs", range: [0, 1] },
    series: [
      { x: [0, 1], y: [0, 1], colour: GREY, width: 1, dash: "5 4" },
      {
        name: "chances",
        x: bins.map((bin) => bin.mean_chance),
        y: bins.map((bin) => bin.share),
        colour: COLOURS[0],
        width: 1.5,
        size: bins.map((bin) => 3 + 7 * Math.sqrt(bin.num_pairs / most)),
        tell: (at) => [
          `${bins[at].num_pairs.toLocaleString("en")} pairs with a chance of about ${percent(bins[at].mean_chance)}`,
          `${percent(bins[at].share)} of them belong together`,
        ],
      },
    ],
  });
}

// ------------------------------------------------------------------ the list of links

const listed = [...document.querySelectorAll("table.links tbody tr")];
const search = document.getElementById("link-search");
const more = document.getElementById("more-links");
const numListed = Number(more?.dataset.listed ?? listed.length);
let showAll = false;

function namesOf(link) {
  return [link.source, link.target].map((name) => String(name).toLowerCase());
}

function listLinks() {
  const wanted = search?.value.trim().toLowerCase() ?? "";
  let count = 0;
  listed.forEach((row, index) => {
    const fits = wanted ? namesOf(data.links[index]).some((name) => name.includes(wanted)) : showAll || index < numListed;
    row.hidden = !fits;
    count += fits ? 1 : 0;
  });
  if (more) {
    more.hidden = Boolean(wanted) || listed.length <= numListed;
    more.textContent = showAll ? `Show the first ${numListed}` : `Show all ${listed.length}`;
  }
  const text = `${count} of the ${listed.length} likeliest`;
  const status = document.getElementById("search-status");
  if (status) status.textContent = wanted ? (count ? text : `none of the ${listed.length} likeliest`) : "";
  document.querySelector("#links .scroll")?.dispatchEvent(new Event("scroll"));
}

// ------------------------------------------------------------------ the graph and its panel

const network = new Drawing("network-chart", data.graph, { edges: data.graph.edges });
const panel = document.getElementById("panel");

function edgesOf(node) {
  return data.graph.edges.filter(([u, v]) => u === node || v === node).map(([u, v]) => (u === node ? v : u));
}

function chip([name, place], parent) {
  const button = html("button", "chip", parent, String(name));
  button.type = "button";
  button.dir = "auto";
  button.disabled = place < 0;
  if (place < 0) button.title = "not drawn";
  button.addEventListener("click", () => chooseNode(place));
  return button;
}

function chips(title, named, total, parent) {
  html("h4", "", parent, `${title} (${total.toLocaleString("en")})`);
  const box = html("p", "chips", parent);
  for (const one of named) chip(one, box);
  const rest = total - named.length;
  if (rest > 0) html("span", "muted", box, `and ${rest.toLocaleString("en")} more`);
  if (!total) html("span", "muted", box, "none");
}

function linkButton(index, parent) {
  const link = data.links[index];
  const button = html("button", "link-button", parent);
  button.type = "button";
  const ends = html("span", "", button);
  html("bdi", "", ends, String(link.source));
  html("span", "muted", ends, " \u2013 ");
  html("bdi", "", ends, String(link.target));
  if (link.score != null) html("span", "muted", button, percent(Number(link.score.toPrecision(2))));
  button.addEventListener("click", () => chooseLink(index));
}

function clearButton(parent) {
  const button = html("button", "plain", parent, "Show the whole graph");
  button.type = "button";
  button.addEventListener("click", clearChoice);
}

function showOverview() {
  panel.replaceChildren();
  if (data.links.length) {
    html("h3", "", panel, document.querySelector("#links h2").textContent);
    html("p", "muted", panel, "Click one to see both nodes, the paths between them, and their neighbours.");
    const list = html("div", "link-buttons", panel);
    data.links.slice(0, Math.min(numListed, 10)).forEach((_, index) => linkButton(index, list));
  } else {
    html("p", "muted", panel, "Click a node to see its neighbours.");
  }
}

function chooseLink(index, { scroll = false } = {}) {
  const link = data.links[index];
  const { between } = link;
  listed.forEach((row, at) => row.classList.toggle("chosen", at === index));
  panel.replaceChildren();
  const heading = html("h3", "", panel);
  html("bdi", "", heading, String(link.source));
  html("span", "muted", heading, " and ");
  html("bdi", "", heading, String(link.target));
  const chance = html("p", "", panel);
  html("b", "", chance, percent(Number((link.score ?? 0).toPrecision(3))));
  html("span", "", chance, ` chance, rank ${index + 1}${link.reason ? ": " : ""}`);
  html("bdi", "", chance, link.reason);
  if (between) {
    html("h4", "", panel, between.paths.length ? `Shortest paths, ${between.paths[0].length - 1} hops` : "Paths");
    if (!between.paths.length) html("p", "muted", panel, "No path joins them.");
    for (const path of between.paths) {
      const line = html("p", "path", panel);
      path.forEach((one, at) => {
        if (at) html("span", "muted", line, "\u2192");
        chip(one, line);
      });
    }
    chips("Neighbours of both", between.shared, between.num_shared, panel);
    [link.source, link.target].forEach((name, side) => {
      const total = between.num_neighbours[side] - between.num_shared;
      chips(`Other neighbours of ${name}`, between.others[side], total, panel);
    });
  }
  clearButton(panel);
  lightLink(index);
  if (scroll) document.getElementById("graph").scrollIntoView({ block: "start" });
}

function lightLink(index) {
  const { ends, between } = data.links[index];
  const drawn = ends.filter((node) => node >= 0);
  if (!drawn.length) return network.light(null);
  const paths = (between?.paths ?? []).map((path) => path.map(([, place]) => place));
  const whole = paths.filter((path) => path.every((place) => place >= 0));
  const places = (named) => (named ?? []).map(([, place]) => place).filter((place) => place >= 0);
  const shared = places(between?.shared);
  const others = [0, 1].map((side) => places(between?.others[side]));
  const named = [...new Set([...drawn, ...whole.flat()])];
  const narrow = network.size.width < 480; // too little room for more names
  network.light({
    link: index,
    ends: drawn,
    named: narrow ? drawn : named,
    nodes: [...named, ...shared, ...others.flat()],
    fit: [...named, ...shared],
    steps: whole.flatMap((path) => path.slice(1).map((place, at) => [path[at], place])),
    spokes: ends.flatMap((end, side) => (end < 0 ? [] : [...shared, ...others[side]].map((node) => [end, node]))),
  });
}

function chooseNode(node) {
  if (node < 0) return;
  listed.forEach((row) => row.classList.remove("chosen"));
  const neighbours = edgesOf(node);
  panel.replaceChildren();
  const heading = html("h3", "", panel);
  html("span", "muted", heading, "node ");
  html("bdi", "", heading, nodeName(node));
  html("p", "", panel, aboutNode(node).slice(1).join(", "));
  const predicted = data.links.flatMap((link, index) => (link.ends.includes(node) ? [index] : []));
  if (predicted.length) {
    html("h4", "", panel, `Predicted links (${predicted.length})`);
    const list = html("div", "link-buttons", panel);
    predicted.slice(0, 8).forEach((index) => linkButton(index, list));
  }
  const some = [...neighbours].sort((u, v) => nodes.degree[u] - nodes.degree[v]).slice(0, 24);
  chips("Neighbours drawn", some.map((one) => [nodes.ids[one], one]), neighbours.length, panel);
  clearButton(panel);
  network.light({
    link: null,
    ends: [node],
    named: [node],
    nodes: [node, ...neighbours],
    fit: [node, ...neighbours],
    steps: [],
    spokes: neighbours.map((other) => [node, other]),
  });
}

function clearChoice() {
  listed.forEach((row) => row.classList.remove("chosen"));
  network.light(null);
  showOverview();
}

function findNode(text) {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return -1;
  const names = nodes.ids.map((name) => String(name).toLowerCase());
  const tests = [(name) => name === wanted, (name) => name.startsWith(wanted), (name) => name.includes(wanted)];
  return tests.map((test) => names.findIndex(test)).find((place) => place >= 0) ?? -1;
}

function colourNetwork() {
  const kind = document.getElementById("node-colour").value;
  const colours = kind === "degree" ? byDegree() : byGroup(kind === "label" ? nodes.label : nodes.community);
  network.colour(colours.fills);
  showScale("network-scale", colours);
}

function showLayers() {
  const on = (id) => document.getElementById(id)?.checked;
  network.links = on("show-links") ? data.links.slice(0, numListed).map(({ ends }, index) => ({ ends, index })) : [];
  network.heldOut = on("show-held-out") ? data.graph.held_out : [];
  for (const layer of [network.near, network.far]) layer.style.display = on("show-edges") ? "" : "none";
  network.refresh();
}

// ------------------------------------------------------------------ positions

const measure = data.measure;
const picker = document.getElementById("anchor-set");
const isShare = measure.kind === "pagerank";

function valueText(value) {
  if (value == null) return "not reached";
  if (isShare) return `${percent(value)} of the walk`;
  if (measure.kind === "lengths") return `length ${Number(value.toPrecision(4))}`;
  return value === 1 ? "1 hop" : `${value} hops`;
}

function pickedSet() {
  return picker.value === "" ? null : data.sets[Number(picker.value)];
}

function aboutPosition(node) {
  const set = pickedSet();
  return set ? [...aboutNode(node), `to set ${set.number}: ${valueText(set.values[node])}`] : aboutNode(node);
}

function bySet(set) {
  const title = `${measure.axis} set ${set.number}`;
  // Shares of a walk's time differ by powers of ten, so they are coloured by their logarithm.
  if (isShare) return colouring(title, set.values, { log: true, tick: percent });
  return colouring(title, set.values, { reversed: true, least: 0 });
}

// The members of a set in words: "the red node", "the nearest of the 12 nodes of this set".
function membersText(set, all) {
  const count = set.size.toLocaleString("en");
  if (set.size === 1) return all ? "the red node" : "the one node of this set";
  return `${measure.nearest}the ${count} ${all ? "red nodes" : "nodes of this set"}`;
}

function explanation(set) {
  if (!set && !nodes.label) return "Each node's colour is its number of neighbours.";
  if (!set) return "Each colour is a label, as the data has it.";
  const all = set.members.length === set.size;
  let text = `Each node's colour is ${measure.colour} ${membersText(set, all)}`;
  if (all) text += ".";
  else if (!set.members.length) text += ", not drawn here.";
  else text += `; ${set.members.length.toLocaleString("en")} of them drawn here, in red.`;
  const rest = [measure.unit, measure.reading, set.values.includes(null) ? measure.unreached : ""];
  return [text, ...rest.filter(Boolean)].join(" ");
}

const drawings = [
  new Drawing("graph-chart", data.graph, { edges: data.graph.edges, tell: aboutPosition }),
  new Drawing("map-chart", data.map, { equal: false, tell: aboutPosition }),
];

function pick() {
  const set = pickedSet();
  document.getElementById("anchor-text").textContent = explanation(set);
  document.getElementById("community-keys").hidden = Boolean(set);
  const colours = set ? bySet(set) : nodes.label ? byGroup(nodes.label) : byDegree();
  for (const drawing of drawings) drawing.colour(colours.fills, set ? set.members : []);
  showScale("position-scale", colours);
}

function step(by) {
  const count = picker.options.length;
  picker.selectedIndex = (picker.selectedIndex + by + count) % count;
  pick();
}

// ------------------------------------------------------------------ begin

drawRoc();
drawCalibration();
drawTraining();

listed.forEach((row, index) => {
  row.addEventListener("click", () => chooseLink(index, { scroll: true }));
  row.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      chooseLink(index, { scroll: true });
    }
  });
});
search?.addEventListener("input", listLinks);
more?.addEventListener("click", () => {
  showAll = !showAll;
  listLinks();
});
listLinks();

network.onLink = (index) => chooseLink(index);
network.onNode = chooseNode;
document.getElementById("node-colour").addEventListener("change", colourNetwork);
for (const id of ["show-edges", "show-held-out", "show-links"]) {
  document.getElementById(id)?.addEventListener("change", showLayers);
}
const nodeSearch = document.getElementById("node-search");
nodeSearch.addEventListener("input", () => {
  const node = findNode(nodeSearch.value);
  nodeSearch.classList.toggle("unknown", node < 0 && nodeSearch.value.trim() !== "");
  if (node >= 0) chooseNode(node);
  else clearChoice();
});
for (const button of document.querySelectorAll("[data-reset]")) {
  button.addEventListener("click", clearChoice);
}
colourNetwork();
showLayers();
showOverview();

if (nodes.classes.length <= 12) {
  nodes.classes.forEach((name, code) => addKey("community-keys", communityColour(code), String(name)));
}
// Point at a node in one drawing, and it is marked in the other as well.
drawings.forEach((drawing, index) => {
  drawing.onPoint = (node) => drawings[1 - index].mark(node);
});
picker.addEventListener("change", pick);
document.getElementById("previous-set").addEventListener("click", () => step(-1));
document.getElementById("next-set").addEventListener("click", () => step(1));
pick();
