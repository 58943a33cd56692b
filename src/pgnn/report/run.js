"use strict";
// The curves of a run.

function drawTraining() {
  const evaluated = data.history.filter((epoch) => epoch.val_auc != null);
  const best = { x0: data.best_epoch, x1: data.best_epoch, yref: "paper", y0: 0, y1: 1 };
  draw(
    "training-chart",
    [
      {
        x: data.history.map((epoch) => epoch.epoch),
        y: data.history.map((epoch) => epoch.loss),
        name: "loss",
        mode: "lines",
        line: { color: COLOURS[0], width: 1.5 },
        hovertemplate: "epoch %{x}<br>loss %{y:.4f}<extra></extra>",
      },
      {
        x: evaluated.map((epoch) => epoch.epoch),
        y: evaluated.map((epoch) => epoch.val_auc),
        name: "validation AUC",
        yaxis: "y2",
        mode: evaluated.length > 60 ? "lines" : "lines+markers",
        marker: { size: 5 },
        line: { color: COLOURS[5], width: 1.5 },
        hovertemplate: "epoch %{x}<br>validation AUC %{y:.4f}<extra></extra>",
      },
    ],
    {
      xaxis: axis({ title: { text: "epoch" }, anchor: "y2" }),
      yaxis: axis({ title: { text: "loss" }, domain: [0.56, 1], nticks: 5 }),
      yaxis2: axis({ title: { text: "validation AUC" }, domain: [0, 0.46], nticks: 5 }),
      shapes: [{ type: "line", ...best, line: { color: GREY, width: 1.5, dash: "dash" } }],
    },
  );
}

// A curve may be called as its row is, or as its row is without what stands there in brackets.
function areaOf(name) {
  const row = data.rows.find((one) => one.name === name || one.name.startsWith(`${name} (`));
  return row?.metrics.roc_auc;
}

function drawRoc() {
  const traces = Object.entries(data.roc).map(([name, curve], index) => {
    const area = areaOf(name);
    const color = COLOURS[index % COLOURS.length];
    addKey("roc-keys", color, name + (area == null ? "" : ` (${area.toFixed(3)})`));
    return {
      x: curve.fpr,
      y: curve.tpr,
      name: shown(name),
      mode: "lines",
      line: { color, width: index ? 1.5 : 2.5, dash: index < COLOURS.length ? "solid" : "dot" },
      hovertemplate: "%{x:.3f}, %{y:.3f}<extra>%{fullData.name}</extra>",
    };
  });
  traces.push({
    x: [0, 1],
    y: [0, 1],
    mode: "lines",
    line: { color: GREY, width: 1, dash: "dash" },
    hoverinfo: "skip",
  });
  draw("roc-chart", traces, {
    xaxis: axis({ title: { text: "share of other pairs" }, range: [-0.01, 1.01] }),
    yaxis: axis({ title: { text: "share of pairs that belong" }, range: [-0.01, 1.02] }),
  });
}

drawTraining();
drawRoc();
