// Compares heed with ONNX Runtime: for each NAME.onnx in a folder, NAME.json has inputs, the logits
// that heed computes, and what it generates greedily.
//   compare.cjs FOLDER
const fs = require('fs');
const path = require('path');
const ort = require('onnxruntime-node');

const tensor = ({type, data, dims}) => new ort.Tensor(
  type, type === 'int64' ? BigInt64Array.from(data, BigInt) : Float32Array.from(data), dims);

// The most likely token after the last one, for a batch of one row.
function argmax(logits) {
  const last = logits.data.slice(-logits.dims.at(-1));
  return last.indexOf(Math.max(...last));
}

// Greedy search for one row of the batch.
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

function rowOf(array, row) {
  const size = array.data.length / array.dims[0];
  return {type: array.type, data: array.data.slice(row * size, (row + 1) * size), dims: [1, ...array.dims.slice(1)]};
}

async function compare(folder, name) {
  const session = await ort.InferenceSession.create(path.join(folder, name + '.onnx'));
  const expected = JSON.parse(fs.readFileSync(path.join(folder, name + '.json')));
  const arrays = Object.fromEntries(expected.inputs.map(array => [array.name, array]));
  const feeds = {};
  for (const [key, array] of Object.entries(arrays))
    feeds[key] = tensor(array);
  const logits = (await session.run(feeds)).logits;
  const wanted = expected.logits.data;
  if (logits.dims.join() !== expected.logits.dims.join())
    throw Error(`${name}: logits have the shape ${logits.dims}, not ${expected.logits.dims}`);
  let error = 0, size = 1;
  wanted.forEach((value, i) => {
    error = Math.max(error, Math.abs(value - logits.data[i]));
    size = Math.max(size, Math.abs(value));
  });
  if (!(error <= 1e-5 * size)) throw Error(`${name}: logits differ by ${error}, the largest is ${size}`);

  for (let row = 0; row < expected.greedy.length; ++row) {
    const inputs = {};
    for (const [key, array] of Object.entries(arrays)) inputs[key] = tensor(rowOf(array, row));
    const start = arrays.source ? [expected.begin] : rowOf(arrays.input, row).data.slice(0, 3);
    const found = await generate(session, inputs, start, 8, expected.end);
    if (found.join() !== expected.greedy[row].join())
      throw Error(`${name}: generates ${found}, heed ${expected.greedy[row]}`);
  }
  return error / size;
}

(async () => {
  const folder = process.argv[2];
  const names = fs.readdirSync(folder).filter(f => f.endsWith('.json')).map(f => f.slice(0, -5));
  if (names.length < 10) throw Error(`${folder}: only ${names.length} cases`);
  let largest = 0;
  for (const name of names) largest = Math.max(largest, await compare(folder, name));
  console.log(`${names.length} models: logits within ${largest.toExponential(1)} of the largest one`);
})().catch(error => {
  console.error(error.message);
  process.exit(1);
});
