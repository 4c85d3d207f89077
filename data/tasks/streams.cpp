// Streams: write down the keys that were pressed on a telephone. Source and target are two streams
// without a common clock.
//
// Each key sounds as two tones at once, one for its row and one for its column of the keypad (the
// dual tones of ITU-T Q.23: 16 keys, 4 + 4 tones). The data.symbols keys are in rows of c = ⌈√S⌉,
// so that with r = ⌈S / c⌉ rows there are r + c tones. The source is the sound: one vector per
// frame with the strength of each tone, 0 or 1, plus noise of standard deviation data.noise. A key
// is held for 2 … 6 frames, with silence of 1 … 3 frames between keys and of 0 … 3 at both ends.
// The target is the keys, as many as data.lengths allows, with <bos> and <eos>. A key is one token
// and its own id. With 4 symbols, the keys 2 0, frames from left to right:
//
//   tone of row 0      0 0 0 0 0 1 1 0
//   tone of row 1      0 1 1 1 0 0 0 0        target 2 0 <eos>
//   tone of column 0   0 1 1 1 0 1 1 0
//   tone of column 1   0 0 0 0 0 0 0 0
//
// Held out: the sequence of keys, however long each is held.
//
// The frame of the next key depends on how long all keys before it were held: no fixed position of
// the source can be copied, cross-attention must find it. Guessing gives 1/S per key.

#include "data/framing.h"
#include "data/tasks/task.h"

namespace heed {

static constexpr Lengths held{2, 6}, between_keys{1, 3}, at_the_ends{0, 3};

static Task streams_task(const DataOptions& options, Lengths lengths) {
  int64_t columns = 1;
  while (columns * columns < options.symbols) ++columns;
  const int64_t rows = (options.symbols + columns - 1) / columns;
  Task task;
  task.format.features = rows + columns;
  task.target =
      task_codec(Level::word, numbered(options.symbols), ModelKind::seq2seq, /*one_length=*/false);
  task.longest_source =
      lengths.most * held.most + (lengths.most - 1) * between_keys.most + 2 * at_the_ends.most;
  task.longest_input = lengths.most + 1;
  task.noise = options.noise;
  task.draw = [=, symbols = options.symbols,
               layout = Layout(ModelKind::seq2seq, task.target->vocabulary())](
                  Random& random, Example& example, Content& keys) {
    std::vector<float>& features = example.features;
    features.clear();
    // Adds silent frames and returns the first of them.
    const auto add_frames = [&](int64_t count) {
      const size_t before = features.size();
      features.resize(before + static_cast<size_t>(count * (rows + columns)), 0.0F);
      return features.data() + before;
    };
    keys.resize(static_cast<size_t>(any_length(random, lengths)));
    for (int32_t& key : keys) {
      key = any_below(random, symbols);
      add_frames(any_length(random, &key == keys.data() ? at_the_ends : between_keys));
      for (int64_t frames = any_length(random, held); frames > 0; --frames) {
        float* const frame = add_frames(1);
        frame[key / columns] = frame[rows + key % columns] = 1;
      }
    }
    add_frames(any_length(random, at_the_ends));
    layout.lay_out({}, keys, example);
  };
  return task;
}

const DataKind data_kinds::streams = {.name = "streams",
                                      .keys = {"lengths", "symbols", "noise"},
                                      .framings = {ModelKind::seq2seq},
                                      .task = streams_task};

}  // namespace heed
