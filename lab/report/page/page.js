// Starts what the scripts add to the page.
function readReport(from) {
  return JSON.parse(from.getElementById("report").textContent);
}

function listContents() {
  const contents = document.getElementById("contents");
  contents.replaceChildren(...[...document.querySelectorAll("main > section")].map((section) =>
    element("a", { href: `#${section.id}`, textContent: section.querySelector("h2").textContent })));
}

let report = document.getElementById("report") ? readReport(document) : null;
const redraw = () => report && drawCharts(report);
listContents();
drawAtlas(report?.attention);
addChartControls(redraw);
redraw();
followRuns();

// Colours follow the system; paper is light.
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
addEventListener("beforeprint", redraw);
addEventListener("afterprint", redraw);
