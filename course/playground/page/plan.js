// What a traced example says about its model: the stages of the drawing, and what the chosen
// position uses. Nothing here draws.

// The weight of a head for a query and a key; the bytes are roots (session.h).
export function weightOf(map, head, row, column) {
  const byte = map.weights[(head * map.rows + row) * map.columns + column];
  return (byte / 255) ** 2 * map.scale;
}

// "decoder.layers.1.cross_attention" → {stack: "decoder", layer: 1, part: "cross_attention"}
export function placeOfStage(name) {
  const found = /^(\w+)\.layers\.(\d+)\.(\w+)$/.exec(name);
  return found ? { stack: found[1], layer: Number(found[2]), part: found[3] } : null;
}

const sentenceNames = {
  attention: "Attention",
  cross_attention: "Cross-attention",
  feed_forward: "Feed-forward",
  mixing: "Mixing",
};

// "Layer 2, head 1"; layers and heads count from 1 in sentences.
export function nameOfHead(module, head, isPair) {
  const place = placeOfStage(module);
  if (!place) return `Pool, head ${head + 1}`;
  const { stack, layer, part } = place;
  const where =
    part === "cross_attention"
      ? `Cross-attention, layer ${layer + 1}`
      : isPair
        ? `${stack === "encoder" ? "Encoder" : "Decoder"}, layer ${layer + 1}`
        : `Layer ${layer + 1}`;
  return `${where}, head ${head + 1}`;
}

// Whether a map is that of the learned queries of a pool.
export const isPool = (name) => name.startsWith("pool");

// The rows of the drawing. Each has up to two stages: `left` of the encoder of a pair, or of the
// only stack, and `right` of the decoder. `pass` is a stack that goes by without a stage.
export function planOf(trace) {
  const mapOf = new Map(trace.maps.map((map) => [map.name, map]));
  const stages = trace.stages.map((stage) => ({
    ...stage,
    place: placeOfStage(stage.stage),
    map: mapOf.get(stage.stage) ?? null,
  }));
  const of = (stack) => stages.filter(({ place }) => place?.stack === stack);
  const title = ({ place, map }) =>
    sentenceNames[place.part] ?? (map ? "Attention" : place.part.replaceAll("_", " "));
  const isPair = trace.source !== null;
  const isChain = trace.residual === false; // each sublayer replaces the stream
  const embedding = (name) => stages.find(({ stage }) => stage === name);
  if (!isPair) {
    const [first, ...rest] = stages;
    const rows = rest.map((stage) => ({
      kind: stage.map ? "attention" : "local",
      title: title(stage),
      layer: stage.place?.layer ?? 0,
      left: stage,
    }));
    return {
      isPair,
      isChain,
      embeddings: [first],
      rows,
      pool: trace.maps.find(({ name }) => isPool(name)) ?? null,
    };
  }
  const [encoder, decoder] = [of("encoder"), of("decoder")];
  const rows = [];
  const lastLayer = Math.max(...encoder.map(({ place }) => place.layer));
  for (const stage of encoder) {
    const kind = stage.map ? "attention" : "local";
    const meets = kind === "attention" && stage.place.layer === lastLayer;
    const own = meets ? decoder.shift() : null;
    rows.push({
      kind,
      title: meets ? "Self-attention" : title(stage),
      layer: stage.place.layer,
      stack: meets ? "both" : "encoder",
      left: stage,
      right: own,
    });
  }
  for (const stage of decoder) {
    const crosses = stage.place.part === "cross_attention" && stage.map;
    rows.push({
      kind: crosses ? "cross" : stage.map ? "attention" : "local",
      title: title(stage),
      layer: stage.place.layer,
      stack: "decoder",
      right: stage,
    });
  }
  const last = rows.findLastIndex(({ kind }) => kind === "cross");
  rows.forEach((row, i) => {
    row.encoderGoesOn = i < last;
    row.encoderEnds = i === last;
  });
  const embeddings = [embedding("source_embedding"), embedding("embedding")];
  return { isPair, isChain, embeddings, rows, pool: null };
}

// How much of what stands at a position before each row the chosen position uses: its own stream
// 1, unless attention replaces it, and a key the weight times the use of its query. [row] → {left,
// right}; the last entry is after all rows.
export function useOf(plan, position, off = new Set()) {
  const size = (embedding) => embedding.norm.length;
  const only = (count, at) => Array.from({ length: count }, (_, i) => (i === at ? 1 : 0));
  const counts = plan.embeddings.map(size);
  let use = plan.isPair
    ? { left: only(counts[0], -1), right: only(counts[1], position) }
    : { left: only(counts[0], position), right: null };
  const before = (map, queries, rest) => {
    const next = rest.slice();
    for (let head = 0; head < map.heads; ++head) {
      if (off.has(`${map.name}.head.${head}`)) continue;
      queries.forEach((used, q) => {
        if (used < 0.02 || q >= map.rows) return;
        for (let k = 0; k < map.columns; ++k)
          next[k] = Math.max(next[k], used * Math.abs(weightOf(map, head, q, k)));
      });
    }
    return next.map((value) => Math.min(1, value));
  };
  const list = [use];
  for (let i = plan.rows.length - 1; i >= 0; --i) {
    const { kind, left, right } = plan.rows[i];
    use = { ...use };
    const kept = (stream) => (plan.isChain ? stream.map(() => 0) : stream);
    if (kind === "cross") {
      use.left = before(right.map, use.right, use.left);
      use.right = kept(use.right);
    } else {
      if (left?.map) use.left = before(left.map, use.left, kept(use.left));
      if (right?.map) use.right = before(right.map, use.right, kept(use.right));
    }
    list.unshift(use);
  }
  return list;
}

// The position that is chosen when an example is drawn first: in the middle of what is to be
// predicted, or a lit pixel.
export function firstPosition(trace, pool) {
  if (!Array.isArray(trace.logits[0]) && pool === "first") return 0;
  if (trace.pixels) {
    const light = trace.pixels.map((colour) => Math.max(...colour));
    return light.indexOf(Math.max(...light));
  }
  const count = trace.stages.at(-1).norm.length;
  if (!Array.isArray(trace.logits[0])) return Math.floor(count / 2);
  const predicted = trace.losses.flatMap((loss, i) => (loss === null ? [] : [i]));
  return predicted.length ? predicted[Math.floor(predicted.length / 2)] : trace.losses.length - 1;
}

// The logits at a position: {bars: [{token, logit, probability}], target, loss, top}. Bars are in
// the order of the vocabulary if they are all of it, else by size, with the target at the end.
export function logitsAt(trace, position, outputs) {
  const isList = Array.isArray(trace.logits[0]);
  const at = isList ? Math.min(position, trace.logits.length - 1) : 0;
  const found = isList ? trace.logits[at] : trace.logits;
  const loss = trace.typed ? null : trace.losses[at];
  const target = trace.typed ? null : trace.targets[at];
  const top = found[0];
  const bars = found.slice();
  if (bars.length === outputs.length) {
    const order = new Map(outputs.map((token, i) => [token, i]));
    bars.sort((a, b) => order.get(a.token) - order.get(b.token));
  } else if (target !== null && !bars.some(({ token }) => token === target)) {
    const probability = Math.exp(-loss);
    const logit = top.logit + Math.log(probability / top.probability);
    bars.push({ token: target, logit, probability });
  }
  return { bars, target, loss, top };
}
