import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as scale from "../../lab/page/scale.js";

test("scales map the ends of a domain to the ends of a range, and back", () => {
  for (const [kind, domain] of [
    ["linear", [-2, 6]],
    ["log", [0.001, 10]],
    ["logit", [0.001, 0.999]],
  ]) {
    const to = scale.makeScale(kind, domain, [40, 240]);
    assert.equal(to(domain[0]), 40);
    assert.ok(Math.abs(to(domain[1]) - 240) < 1e-9);
    for (const pixel of [40, 77, 140, 239]) assert.ok(Math.abs(to(to.value(pixel)) - pixel) < 1e-6);
  }
  assert.equal(scale.makeScale("log", [0.01, 100], [0, 100])(1), 50);
  assert.ok(Math.abs(scale.makeScale("logit", [0.001, 0.999], [0, 10])(0.5) - 5) < 1e-9);
});

test("values outside an axis end at its edge", () => {
  const linear = scale.makeScale("linear", [0, 1], [10, 20]);
  assert.deepEqual([linear(-5), linear(7)], [10, 20]);
  const log = scale.makeScale("log", [0.1, 1], [20, 10]);
  assert.deepEqual([log(0), log(-1), log(100)], [20, 20, 10]);
  const logit = scale.makeScale("logit", [0.001, 0.999], [0, 1]);
  assert.deepEqual([logit(0), logit(1)], [0, 1]);
});

test("ticks are 1, 2 or 5 times a power of ten, three to six of them, inside the axis", () => {
  for (let i = 0; i < 2000; ++i) {
    const span = (1 + (i % 97)) * 10 ** ((i % 13) - 7);
    const low = ((i % 7) - 3) * 37.7 * span;
    const high = low + span;
    const ticks = scale.ticksOf("linear", [low, high]);
    const step = ticks[1] - ticks[0];
    const digit = step / 10 ** Math.floor(Math.log10(step) + 1e-6);
    assert.ok(
      [1, 2, 5].some((each) => Math.abs(digit - each) < 1e-6 * each),
      `${low} ${high}: ${ticks}`,
    );
    assert.ok(ticks.length >= 3 && ticks.length <= 7, `${low} ${high}: ${ticks}`);
    const edge = 1e-9 * (high - low) + 1e-11 * Math.abs(high);
    assert.ok(ticks[0] >= low - edge && ticks.at(-1) <= high + edge, `${low} ${high}: ${ticks}`);
  }
  assert.deepEqual(scale.ticksOf("linear", [0, 5000]), [0, 1000, 2000, 3000, 4000, 5000]);
  assert.deepEqual(scale.ticksOf("linear", [0, 0.3]), [0, 0.1, 0.2, 0.3]);
  assert.deepEqual(scale.ticksOf("linear", [3, 3]), [3]);
});

test("ticks of a logarithmic axis are powers of ten, or 1, 2 and 5 times them", () => {
  assert.deepEqual(scale.ticksOf("log", [0.0008, 7]), [0.001, 0.01, 0.1, 1]);
  assert.deepEqual(scale.ticksOf("log", [0.012, 0.1]), [0.02, 0.05, 0.1]);
  assert.deepEqual(scale.ticksOf("log", [1e-9, 1e9]), [1e-9, 1e-5, 1e-1, 1e3, 1e7]);
  assert.ok(scale.ticksOf("log", [2.1, 2.9]).length >= 3);
  assert.deepEqual(scale.ticksOf("log", [0.15, 12], 3), [0.2, 1, 5]); // not those below alone
  for (let i = 0; i < 300; ++i)
    for (const most of [2, 3, 5]) {
      const [low, high] = [10 ** (-3 + i * 0.017), 10 ** (-2.4 + i * 0.021)];
      const ticks = scale.ticksOf("log", [low, high], most);
      const text = `${low} ${high}, ${most}: ${ticks}`;
      assert.ok(ticks.length >= 3 && ticks.length <= 7, text);
      assert.ok(ticks.at(-1) * 1000 > high && ticks[0] < low * 1000, text);
    }
  for (let i = 0; i < 500; ++i) {
    const low = 10 ** (-6 + (i % 23) * 0.31);
    const high = low * 10 ** (0.05 + (i % 41) * 0.13);
    const ticks = scale.ticksOf("log", [low, high]);
    assert.ok(ticks.length >= 2 && ticks.length <= 7, `${low} ${high}: ${ticks}`);
    assert.ok(ticks[0] >= low * (1 - 1e-9) && ticks.at(-1) <= high * (1 + 1e-9));
  }
});

// What still drawings have, too: tests/apps/axis.cpp.
test("ticks and thinned lines are those of tests/fixtures/axis.json", () => {
  const file = new URL("../fixtures/axis.json", import.meta.url);
  const { ticks, values, thinned } = JSON.parse(readFileSync(file, "utf8"));
  for (const { log, low, high, most, ticks: expected } of ticks)
    assert.deepEqual(scale.ticksOf(log ? "log" : "linear", [low, high], most), expected);
  const indices = values.map((_, i) => i);
  for (const { most, kept } of thinned)
    assert.deepEqual(scale.thin(indices, values, most)[0], kept);
});

test("the ends of an axis leave room, keep fractions in 0 … 1 and show a constant", () => {
  assert.deepEqual(scale.axisEnds("linear", [0.2, 0.7], { fraction: true }), [0, 1]);
  assert.deepEqual(scale.axisEnds("linear", [0, 0], { zero: true }), [0, 1]);
  const [low, high] = scale.axisEnds("linear", [3, 3]);
  assert.ok(low < 3 && 3 < high);
  const log = scale.axisEnds("log", [1e-4, 1]);
  assert.ok(0 < log[0] && log[0] < 1e-4 && 1 < log[1]);
  assert.deepEqual(scale.extent([1, NaN, Infinity], [-3]), [-3, 1]);
  assert.deepEqual(scale.extent([]), [0, 1]);
  assert.equal(scale.wantsLog([0.01, 1]), true);
  assert.equal(scale.wantsLog([0.1, 1]), false);
  assert.equal(scale.wantsLog([-1, 100]), false);
});

test("thinning keeps the ends and every peak", () => {
  const xs = Array.from({ length: 100000 }, (_, i) => i);
  const ys = xs.map((i) => (i === 31234 ? 9 : i === 77777 ? -9 : (i % 97) / 97));
  for (const most of [4, 5, 100, 2000]) {
    const [x, y] = scale.thin(xs, ys, most);
    assert.ok(x.length <= most && x.length + 2 >= most, `${most}: ${x.length}`);
    assert.deepEqual([x[0], x.at(-1)], [0, 99999]);
    assert.ok(y.includes(9) && y.includes(-9));
    for (let i = 1; i < x.length; ++i) assert.ok(x[i] > x[i - 1]);
    x.forEach((each, i) => assert.equal(y[i], ys[each]));
  }
  assert.deepEqual(scale.thin([1, 2, 3], [3, 1, 2], 4), [
    [1, 2, 3],
    [3, 1, 2],
  ]);
});

test("smoothing has no bias at its start, and is geometric on a logarithmic axis", () => {
  assert.deepEqual(scale.smooth([1, 5, 2], 0), [1, 5, 2]);
  for (const each of scale.smooth([3, 3, 3], 0.9)) assert.ok(Math.abs(each - 3) < 1e-12);
  const [, second] = scale.smooth([1, 100], 0.5, true);
  assert.ok(Math.abs(second - 10 ** (4 / 3)) < 1e-9);
});

test("the nearest step is found", () => {
  assert.equal(scale.nearest([10, 20, 40], 29), 1);
  assert.equal(scale.nearest([10, 20, 40], 31), 2);
  assert.equal(scale.nearest([], 3), -1);
});
