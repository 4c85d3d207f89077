// Answers lines of words as heed generate does, with ONNX Runtime: greedily, at most twice as many tokens as the line
// has, and ten.
//   answer.cjs MODEL.onnx RUN LINES
const fs = require('fs');
const path = require('path');
const ort = require('onnxruntime-web');
const {generate, tensor} = require('./greedy.cjs');

const [model, run, lines] = process.argv.slice(2);
const {symbols} = JSON.parse(fs.readFileSync(path.join(run, 'vocabulary.json')));

(async () => {
  const session = await ort.InferenceSession.create(model);
  for (const line of fs.readFileSync(lines, 'utf8').trimEnd().split('\n')) {
    const ids = line.split(' ').map(word => symbols.indexOf(word));
    const inputs = {
      source: tensor({type: 'int64', data: ids, dims: [1, ids.length]}),
      source_lengths: tensor({type: 'int64', data: [ids.length], dims: [1]}),
    };
    const [begin, end] = ['<bos>', '<eos>'].map(token => symbols.indexOf(token));
    const found = await generate(session, inputs, [begin], 2 * ids.length + 10, end);
    console.log(found.map(id => symbols[id]).join(' '));
  }
})();
