// What pages say in words.
import { percent, significant, whole } from "../../page/text.js";

export const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;
export const spaced = (name) => name.replaceAll("_", " ");

// "test_longer" → "test, longer"
export const splitWords = (split) => (split === "val" ? "validation" : split.replace("_", ", "));

// "22 s", or "3:05" from 100 s on
export function duration(seconds) {
  if (seconds < 100) return `${seconds.toFixed(0)} s`;
  const all = Math.floor(seconds + 0.5);
  const two = (number) => `${number % 60}`.padStart(2, "0");
  const [hours, minutes] = [Math.floor(all / 3600), Math.floor(all / 60)];
  return hours ? `${hours}:${two(minutes)}:${two(all)}` : `${minutes}:${two(all)}`;
}
export const timeLeft = (seconds) => `about ${duration(seconds)} left`;

// A score: {value, fraction}
export function scoreText({ value, fraction }) {
  if (fraction) return percent(value);
  return Number.isInteger(value) && value < 1e15 ? whole(value) : significant(value, 4);
}

// "5th" of 4.7
export function ordinal(number) {
  const n = Math.round(number);
  const last = Math.floor((n % 100) / 10) === 1 ? 0 : n % 10;
  return `${n}${["th", "st", "nd", "rd"][last] ?? "th"}`;
}

// The score that a headline is about: exact match, else token accuracy, else the loss; of the test
// split if there is one, else of the first. undefined without scores.
export function mainScore(scores) {
  const of = scores.find(({ split }) => split === "test") ?? scores[0];
  const find = (name) => of?.scores.find((score) => score.name === name && score.value !== null);
  const score = find("exact_match") ?? find("token_accuracy") ?? find("loss");
  return score && { ...of, ...score };
}

// The result of a run in words: "reverse: 99.8 % of 500 test outputs are exactly right after
// 5 000 steps, 0:22".
export function headlineOf({ run, task, loss, trained }) {
  if (run.state === "failed") return `${task}: the run failed after ${whole(run.step)} steps`;
  const main = mainScore(run.scores);
  if (!main) {
    const last = loss === undefined ? "" : `, training loss ${significant(loss, 4)}`;
    return `${task}: step ${whole(run.step)} of ${whole(run.steps)}${last}`;
  }
  const split = splitWords(main.split);
  const { steps, seconds } = trained;
  const after =
    (steps === undefined ? "" : ` after ${whole(steps)} steps`) +
    (seconds === undefined ? "" : `, ${duration(seconds)}`);
  if (main.name === "loss") return `${task}: ${split} loss ${significant(main.value, 4)}${after}`;
  if (main.name === "token_accuracy")
    return `${task}: ${percent(main.value)} of the ${split} tokens are predicted right${after}`;
  const of = main.examples ? `${whole(main.examples)} ` : "";
  return `${task}: ${percent(main.value)} of ${of}${split} outputs are exactly right${after}`;
}

// What does not work, or is not known yet.
export function leadOf({ run, best_by: by, trained }) {
  if (run.state === "failed") return ""; // the note below says why
  const main = mainScore(run.scores);
  const worse = run.scores.filter(({ interval }) => interval?.[1] < main?.interval?.[0]);
  const told = worse.map(({ split, scores }) => {
    const { value } = scores.find(({ name }) => name === "exact_match");
    return `Of the split ${split} only ${percent(value)} are. `;
  });
  const { best_step: best, steps } = trained;
  if (best > 0 && best === steps)
    told.push(`The best step by validation ${by} is the last one: it was still improving.`);
  else if (best > 0) told.push(`The best step by validation ${by} is ${whole(best)}.`);
  return told.join("");
}
