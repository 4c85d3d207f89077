// From values to pixels: linear, logarithmic and logit scales, their ticks, and what is computed
// before anything is drawn. apps/support/axis.cpp has what still drawings need of it, and
// tests/fixtures/axis.json holds both equal.

const logit = (p) => Math.log(p / (1 - p));
const least = 1e-3; // a logit axis ends at this fraction, and at 1 minus it
const kinds = {
  linear: { to: (v) => v, from: (t) => t },
  log: { to: (v) => Math.log10(v), from: (t) => 10 ** t },
  logit: {
    to: (v) => logit(Math.min(1 - least, Math.max(least, v))),
    from: (t) => 1 / (1 + Math.exp(-t)),
  },
};

// A function from a value of [low, high] to a pixel of [begin, end]; values outside end at the
// edge. Its inverse is `.value(pixel)`.
export function makeScale(kind, [low, high], [begin, end]) {
  const { to, from } = kinds[kind];
  const a = to(low);
  const span = to(high) - a || 1;
  const scale = (value) => {
    const share = kind === "log" && value <= 0 ? 0 : (to(value) - a) / span;
    return begin + Math.min(1, Math.max(0, share)) * (end - begin);
  };
  scale.kind = kind;
  scale.domain = [low, high];
  scale.value = (pixel) => from(a + ((pixel - begin) / (end - begin)) * span);
  return scale;
}

// The smallest and the largest finite number of lists; [0, 1] without one.
export function extent(...lists) {
  let low = Infinity;
  let high = -Infinity;
  for (const list of lists)
    for (const value of list)
      if (Number.isFinite(value)) {
        low = Math.min(low, value);
        high = Math.max(high, value);
      }
  return low <= high ? [low, high] : [0, 1];
}

// Positive values that span more than a factor of 30 are read on a logarithmic axis.
export const wantsLog = ([low, high]) => low > 0 && high > 30 * low;

// A step of 1, 2 or 5 × 10ⁿ that divides a span into at most `most` parts.
function roundStep(span, most) {
  const unit = 10 ** Math.floor(Math.log10(span / most));
  return [1, 2, 5, 10].map((factor) => factor * unit).find((step) => span / step <= most + 1e-9);
}

function multiples(step, low, high) {
  const ticks = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; ++i)
    ticks.push(Number((i * step).toPrecision(12)));
  return ticks;
}

// At least three, where a smaller step is needed for that.
function linearTicks(low, high, most) {
  let step = roundStep(high - low, most);
  let ticks = multiples(step, low, high);
  while (ticks.length < 3) {
    const isFive = step / 10 ** Math.floor(Math.log10(step) + 1e-9) > 4;
    step /= isFive ? 2.5 : 2;
    ticks = multiples(step, low, high);
  }
  return ticks;
}

function logTicks(low, high, most) {
  const first = Math.ceil(Math.log10(low) - 1e-9);
  const last = Math.floor(Math.log10(high) + 1e-9);
  if (last - first >= 2) {
    const every = Math.ceil((last - first + 1) / most);
    const ticks = [];
    for (let n = first; n <= last; n += every) ticks.push(Number(`1e${n}`));
    return ticks;
  }
  const ticks = [];
  let ten = 0; // the index of the first power of ten
  for (let n = first - 1; n <= last; ++n)
    for (const digit of [1, 2, 5]) {
      const tick = Number(`${digit}e${n}`);
      if (tick < low * (1 - 1e-9) || tick > high * (1 + 1e-9)) continue;
      if (digit === 1 && n === first) ten = ticks.length;
      ticks.push(tick);
    }
  if (ticks.length < 3) return linearTicks(low, high, most);
  // Too many: every second or third, powers of ten among them if that leaves three.
  const every = Math.ceil(ticks.length / (most + 1));
  const from = (rest) => ticks.filter((_, i) => i % every === rest);
  const chosen = [from(ten % every), from(0), ticks];
  return chosen.find((each) => each.length >= 3);
}

// Three to `most` + 1 rounded values between low and high.
export function ticksOf(kind, [low, high], most = 5) {
  if (!(low < high)) return [low];
  if (kind === "log") return logTicks(low, high, most);
  if (kind === "logit") {
    const ticks = [0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999];
    return ticks.filter((tick) => tick >= low && tick <= high);
  }
  return linearTicks(low, high, most);
}

// The ends of an axis for values of a range: with room, a fraction inside 0 … 1, a constant
// in the middle. `zero`: a linear axis begins at 0 if its values are not negative.
export function axisEnds(kind, [low, high], { fraction = false, zero = false } = {}) {
  if (kind === "logit") return [least, 1 - least];
  if (fraction) return [0, 1];
  if (kind === "log") {
    const room = Math.max((high / low) ** 0.05, 1.1);
    return [low / room, high * room];
  }
  if (zero && low >= 0) return [0, high > 0 ? high * 1.05 : 1];
  const room = 0.06 * (high - low) || Math.abs(low) / 2 || 0.5;
  return [low - room, high + room];
}

// At most `most` ≥ 4 points: the ends, and the least and the largest of each part in between, so
// that no peak gets lost.
export function thin(xs, ys, most) {
  if (xs.length <= most) return [xs, ys];
  const chosen = [0];
  const parts = Math.floor((most - 2) / 2);
  for (let part = 0; part < parts; ++part) {
    const begin = 1 + Math.floor((part * (xs.length - 2)) / parts);
    const end = 1 + Math.floor(((part + 1) * (xs.length - 2)) / parts);
    let smallest = begin;
    let largest = begin;
    for (let i = begin; i < end; ++i) {
      if (ys[i] < ys[smallest]) smallest = i;
      if (ys[i] >= ys[largest]) largest = i;
    }
    if (smallest !== largest) chosen.push(Math.min(smallest, largest));
    chosen.push(Math.max(smallest, largest));
  }
  chosen.push(xs.length - 1);
  return [chosen.map((i) => xs[i]), chosen.map((i) => ys[i])];
}

// An exponential moving average without bias at its start (Kingma and Ba, 2015, algorithm 1), of
// the logarithm on a logarithmic axis. weight: 0 (none) … 1.
export function smooth(ys, weight, log = false) {
  if (!weight) return ys;
  const { to, from } = log ? kinds.log : kinds.linear;
  let mean = 0;
  let share = 1;
  return ys.map((y) => {
    mean = weight * mean + (1 - weight) * to(y);
    share *= weight;
    return from(mean / (1 - share));
  });
}

// The index of the value nearest to x in an ascending list; -1 without one.
export function nearest(xs, x) {
  let best = -1;
  xs.forEach((each, i) => {
    if (best < 0 || Math.abs(each - x) < Math.abs(xs[best] - x)) best = i;
  });
  return best;
}
