// Charts with Chart.js, in place of the drawings. Without Chart.js the drawings stay.
"use strict";

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const element = (tag, options = {}, ...children) => {
  const made = Object.assign(document.createElement(tag), options);
  made.append(...children);
  return made;
};

// An exponential moving average without bias at its start (Kingma and Ba, 2015, algorithm 1).
function smoothed(values, weight) {
  if (!weight) return values;
  let mean = 0, share = 1;
  return values.map((value) => {
    mean = weight * mean + (1 - weight) * value;
    share *= weight;
    return mean / (1 - share);
  });
}

const view = { logX: false, logY: null, smoothing: 0 };  // logY: null leaves the choice to each chart
const drawn = new Map();                                  // Chart objects by the name of the chart

function datasets(chart, logY) {
  const sets = [];
  const points = (line, values) =>
    line.x.map((x, i) => ({ x, y: logY && values[i] <= 0 ? NaN : values[i] }));
  chart.lines.forEach((line) => {
    const colour = css(`--s${line.colour % 8}`);
    const base = { borderColor: colour, backgroundColor: colour, borderWidth: 1.6, tension: 0, pointHitRadius: 6,
      borderDash: line.colour > 7 ? [5, 3] : [], pointRadius: line.x.length > 40 ? 0 : 2 };
    if (line.low) {
      const edge = { ...base, borderWidth: 0, pointRadius: 0, band: true, backgroundColor: colour + "2e" };
      sets.push({ ...edge, data: points(line, line.low), fill: false });
      sets.push({ ...edge, data: points(line, line.high), fill: "-1" });
    }
    if (view.smoothing && !line.low)
      sets.push({ ...base, band: true, pointRadius: 0, borderWidth: 1, borderColor: colour + "40", data: points(line, line.y) });
    sets.push({ ...base, label: line.label, data: points(line, smoothed(line.y, line.low ? 0 : view.smoothing)) });
  });
  return sets;
}

function axis(log, options) {
  const ticks = { color: css("--quiet"), maxRotation: 0, autoSkipPadding: 14, font: { size: 12 } };
  if (log)
    ticks.callback = (value) => (Math.abs(Math.log10(value) % 1) < 1e-9 ? Number(value).toPrecision(1) * 1 : null);
  return { type: log ? "logarithmic" : "linear", ticks, border: { display: false },
    grid: { color: css("--rule"), drawBorder: false, drawTicks: false }, ...options };
}

// A legend of many lines stands only under the first chart.
function options(chart, logY, first) {
  const single = chart.lines.length === 1;
  return {
    animation: false, responsive: true, maintainAspectRatio: false, parsing: false, normalized: true,
    interaction: { mode: "nearest", axis: "x", intersect: false },
    scales: {
      x: axis(view.logX, { grid: { display: false, drawBorder: false }, ...steps(chart) }),
      y: axis(logY, chart.fraction && !logY ? { suggestedMin: 0, max: 1 } : {}),
    },
    plugins: {
      legend: { display: !single && chart.lines.length <= 12 && (first || chart.lines.length <= 3), position: "bottom", align: "start",
        labels: { color: css("--quiet"), boxWidth: 16, boxHeight: 1, padding: 12, font: { size: 12 },
          filter: (item, data) => !data.datasets[item.datasetIndex].band } },
      tooltip: { filter: (item) => !item.dataset.band, displayColors: !single, boxWidth: 8, boxHeight: 8,
        callbacks: { title: (items) => (items.length ? `${chart.x ?? "step"} ${items[0].parsed.x}` : ""),
          label: (item) => `${single ? "" : item.dataset.label + ": "}${Number(item.parsed.y.toPrecision(5))}` } },
    },
  };
}

const steps = (chart) => ({
  min: view.logX ? Math.max(1, Math.min(...chart.lines.map((line) => line.x[0] ?? 1))) : 0,
  max: Math.max(1, ...chart.lines.map((line) => line.x[line.x.length - 1] ?? 1)),
});

// Draws a chart into its figure, or draws it again after its data or the view have changed.
function drawChart(figure, chart) {
  const logY = view.logY ?? chart.log;
  const old = drawn.get(chart.name), first = !figure.previousElementSibling;
  if (old && old.canvas.isConnected) {
    old.options = options(chart, logY, first);
    old.data.datasets = datasets(chart, logY);
    old.update("none");
    return;
  }
  old?.destroy();
  const canvas = element("canvas");
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", chart.title);
  figure.querySelector(".plot").replaceChildren(canvas);
  drawn.set(chart.name, new Chart(canvas, { type: "line", data: { datasets: datasets(chart, logY) }, options: options(chart, logY, first) }));
}

function drawCharts(report) {
  if (typeof Chart === "undefined") return;
  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  const charts = new Map(report.charts.map((chart) => [chart.name, chart]));
  document.querySelectorAll("figure.chart").forEach((figure) => {
    if (charts.has(figure.dataset.chart)) drawChart(figure, charts.get(figure.dataset.chart));
  });
}

function slider(label, input, show) {
  const shown = element("output");
  const update = () => { shown.textContent = show(input.valueAsNumber); };
  input.addEventListener("input", update);
  update();
  return element("label", {}, label, input, shown);
}

function checkbox(label, checked, change) {
  const input = element("input", { type: "checkbox", checked });
  input.addEventListener("change", () => change(input.checked));
  return element("label", {}, input, label);
}

function addChartControls(redraw) {
  const charts = document.querySelector("#curves .charts");
  if (!charts || typeof Chart === "undefined" || charts.previousElementSibling?.matches(".controls")) return;
  const smoothing = element("input", { type: "range", id: "smoothing", min: 0, max: 0.99, step: 0.01, value: view.smoothing });
  smoothing.addEventListener("input", () => { view.smoothing = smoothing.valueAsNumber; redraw(); });
  charts.before(element("div", { className: "controls" },
    slider("Smoothing", smoothing, (value) => value.toFixed(2)),
    checkbox("Steps logarithmic", view.logX, (on) => { view.logX = on; redraw(); }),
    checkbox("Values logarithmic", view.logY ?? false, (on) => { view.logY = on; redraw(); })));
}
