// A page of `heed view` follows its runs: whenever the server says that they have changed, the page
// reads itself again, takes over what is new, and draws it by the same code. What one has chosen,
// opened or ticked stays.

const folds = (root) => [...root.querySelectorAll("details:not(.menu)")];
const foldName = (fold) => fold.querySelector("summary").textContent;

// Takes the main part of the other page. Returns a function that gives the focus back.
function takeMain(old, now) {
  const open = new Set(folds(old).flatMap((fold) => (fold.open ? [foldName(fold)] : [])));
  const boxes = (root) => [...root.querySelectorAll("input[name=run]")];
  const ticked = new Set(boxes(old).flatMap((box) => (box.checked ? [box.value] : [])));
  const focused = old.contains(document.activeElement) ? document.activeElement : null;
  const [key, id] = [focused?.dataset.key, focused?.id];
  now.style.minHeight = `${old.offsetHeight}px`; // or it would scroll up until all is drawn
  old.replaceWith(document.adoptNode(now));
  for (const fold of folds(now)) fold.open = open.has(foldName(fold));
  for (const box of boxes(now)) box.checked = ticked.has(box.value);
  return () => {
    const found = key
      ? now.querySelector(`[data-key="${CSS.escape(key)}"]`)
      : id && document.getElementById(id);
    if (found) found.focus({ preventScroll: true });
  };
}

function takeOver(page, draw) {
  const parts = ["h1", "h1 + span", "h1 + span + span", "body > header nav", "#data"].map((part) =>
    [document, page].map((from) => from.querySelector(part)),
  );
  const focusAgain = takeMain(document.querySelector("main"), page.querySelector("main"));
  for (const [old, now] of parts)
    if (old && now) old.replaceWith(document.adoptNode(now));
    else old?.remove();
  draw();
  focusAgain();
}

// Somebody drags or has a menu open: the page waits until they are done.
const isBusy = () => document.querySelector(".menu[open], :active:not(html, body, main)") !== null;

export function followRuns(html, draw) {
  const status = document.getElementById("live");
  const events = new EventSource(`/events${location.search}`);
  const state = { reading: false, again: false };
  const refresh = async () => {
    if (state.reading || isBusy()) {
      state.again = true;
      return;
    }
    state.reading = true;
    try {
      const answer = await fetch(location.href);
      takeOver(new DOMParser().parseFromString(await answer.text(), "text/html"), draw);
    } catch {
      state.again = false; // the server has ended; the events say so
    }
    state.reading = false;
  };
  setInterval(() => {
    if (!state.again) return;
    state.again = false;
    refresh();
  }, 1000);
  events.onmessage = () => {
    state.again = true;
  };
  const say = (text, kind) => {
    status.textContent = text;
    status.className = `state ${kind}`;
  };
  events.onopen = () => say("live", "running");
  events.onerror = () => say("not connected", "failed");
}
