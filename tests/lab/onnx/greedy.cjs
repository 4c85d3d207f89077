// Greedy search with ONNX Runtime.
const ort = require('onnxruntime-web');

const tensor = ({type, data, dims}) => new ort.Tensor(
  type, type === 'int64' ? BigInt64Array.from(data, BigInt) : Float32Array.from(data), dims);

// The most likely token after the last one, or class, for a batch of one row.
function argmax(logits) {
  const last = logits.data.slice(-logits.dims.at(-1));
  return last.indexOf(Math.max(...last));
}

// Continues `start`, one row of a batch, by at most `steps` tokens.
async function generate(session, inputs, start, steps, end) {
  const ids = [...start];
  for (let step = 0; step < steps; ++step) {
    const feeds = {...inputs, input: tensor({type: 'int64', data: ids, dims: [1, ids.length]})};
    const next = argmax((await session.run(feeds)).logits);
    if (next === end) break;
    ids.push(next);
  }
  return ids.slice(start.length);
}

module.exports = {argmax, generate, tensor};
