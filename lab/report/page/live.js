// A page of `heed view` follows its runs: whenever the server says that they have changed, the page reads itself
// again and takes over what is new. Charts stay, with their zoom and legends, and get the new points.
function followRuns() {
  if (!document.body.hasAttribute("data-live")) return;
  const status = document.getElementById("live");
  const events = new EventSource("/events" + location.search);
  let busy = false, again = false;
  const refresh = async () => {
    if (busy) { again = true; return; }
    busy = true;
    try {
      const answer = await fetch(location.href);
      takeOver(new DOMParser().parseFromString(await answer.text(), "text/html"));
    } catch {
      again = false;
    }
    setTimeout(() => { busy = false; if (again) { again = false; refresh(); } }, 1000);
  };
  events.onmessage = refresh;
  events.onopen = () => { status.textContent = "live"; status.className = "state running"; };
  events.onerror = () => { status.textContent = "not connected"; status.className = "state failed"; };
}

const chartNames = (root) => [...root.querySelectorAll("#curves figure")].map((f) => f.dataset.chart).join("\n");

// Takes the cells of a row of the list, apart from its box, which may be checked.
function takeCells(old, row) {
  const box = old.cells[0];
  old.replaceChildren(box, ...[...row.cells].slice(1));
}

function takeOver(page) {
  document.querySelector("h1").replaceWith(page.querySelector("h1"));
  if (!page.getElementById("report")) {  // the list, or a problem
    const rows = (from) => [...from.querySelectorAll("tr")], names = (from) => rows(from).map((row) => row.id).join("\n");
    if (names(page) && names(page) === names(document)) {  // only rows that have changed
      const old = rows(document);
      rows(page).forEach((row, i) => { if (!row.isEqualNode(old[i])) takeCells(old[i], row); });
      return;
    }
    const checked = new Set([...document.querySelectorAll("input[name=run]:checked")].map((box) => box.value));
    document.querySelector("main").replaceWith(page.querySelector("main"));
    document.querySelectorAll("input[name=run]").forEach((box) => { box.checked = checked.has(box.value); });
    return;
  }
  report = readReport(page);
  const sameCharts = chartNames(page) === chartNames(document);
  let before = null;
  for (const section of [...page.querySelectorAll("main > section")]) {
    const old = document.getElementById(section.id);
    const keep = old && (["config", "runs"].includes(section.id) || (section.id === "curves" && sameCharts));
    if (!old) before ? before.after(section) : document.querySelector("main").prepend(section);
    else if (!keep) old.replaceWith(section);
    before = document.getElementById(section.id);
  }
  listContents();
  addChartControls(redraw);
  redraw();
}
