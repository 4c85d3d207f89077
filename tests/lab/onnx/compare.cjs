// Compares heed with ONNX Runtime: for each NAME.onnx in a folder, NAME.json has inputs, the logits
// or numbers that heed computes, and what it generates greedily (a classifier: the most likely class).
//   compare.cjs FOLDER COUNT     COUNT: the expected number of models
const fs = require('fs');
const path = require('path');
const ort = require('onnxruntime-web');
const {argmax, generate, tensor} = require('./greedy.cjs');

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
  const outputs = await session.run(feeds), logits = outputs.logits ?? outputs.numbers;
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
    const found = logits.dims.length === 2
      ? [argmax(rowOf(logits, row))]
      : await generate(session, inputs, start, expected.steps, expected.end);
    if (found.join() !== expected.greedy[row].join())
      throw Error(`${name}: generates ${found}, heed ${expected.greedy[row]}`);
  }
  return error / size;
}

(async () => {
  const folder = process.argv[2];
  const names = fs.readdirSync(folder).filter(f => f.endsWith('.json')).map(f => f.slice(0, -5));
  if (!names.length || names.length !== Number(process.argv[3])) throw Error(`${folder}: ${names.length} models`);
  let largest = 0;
  for (const name of names) largest = Math.max(largest, await compare(folder, name));
  console.log(`${names.length} models: logits within ${largest.toExponential(1)} of the largest one`);
})().catch(error => {
  console.error(error.message);
  process.exit(1);
});
