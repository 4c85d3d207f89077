// Sentences from measured events. Nothing here draws.
import { telling } from "../../../lab/page/heat.js";
import { percent, significant } from "../../../lab/page/text.js";
import { placeOfStage } from "./plan.js";

const scoreNames = { previous: "previous-token", induction: "induction", duplicate: "duplicate" };
const scoreWords = {
  previous: "one position back",
  induction: "just after an earlier copy of its token",
  duplicate: "at an earlier copy of its token",
};
const exactLevels = [0.5, 0.95];

// "Head 1 of layer 2", "Head 1 of the cross-attention"
function headInSentence(module, head) {
  const place = placeOfStage(module);
  if (!place) return `Head ${head + 1} of the pool`;
  if (place.part === "cross_attention") return `Head ${head + 1} of the cross-attention`;
  return `Head ${head + 1} of layer ${place.layer + 1}`;
}

// history: [{step, scores: {exact_match, loss}, heads: [{module, head, previous, …}]}], by step.
// Returns [{step, text, strong, note}]: a score of a head that passes 0.5 (it ends below 0.4), the
// exact match that passes a level for the first time.
export function eventsOf(history) {
  const events = [];
  const above = new Set();
  const reached = new Set();
  history.forEach(({ step, scores, heads = [] }, i) => {
    for (const each of heads)
      for (const [score, words] of Object.entries(scoreWords)) {
        const key = `${each.module} ${each.head} ${score}`;
        const value = each[score];
        if (value === null || value === undefined) continue;
        if (value < 0.4) above.delete(key);
        if (value < telling || above.has(key)) continue;
        above.add(key);
        if (i === 0) continue; // it began so
        const was = history[i - 1].heads?.find(
          ({ module, head }) => module === each.module && head === each.head,
        );
        events.push({
          step,
          size: value - (was?.[score] ?? 0),
          text: `${headInSentence(each.module, each.head)} began to look`,
          strong: words,
          note: `Its ${scoreNames[score]} score passed ${telling}: ${value.toFixed(2)}.`,
        });
      }
    for (const level of exactLevels) {
      if (scores.exact_match < level || reached.has(level)) continue;
      reached.add(level);
      if (i === 0) continue;
      events.push({
        step,
        size: scores.exact_match - history[i - 1].scores.exact_match,
        text: "Exact match passed",
        strong: percent(level, 0),
        note:
          `${percent(scores.exact_match)} of the validation examples are right; ` +
          `the loss is ${significant(scores.loss, 2)}.`,
      });
    }
  });
  // Events of one step stand in the order of their size; the largest counts last.
  return events.sort((a, b) => a.step - b.step || a.size - b.size);
}
