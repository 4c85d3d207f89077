// Video: in which direction does the figure move? A model needs at least two frames and both axes.
//
// A video of data.frames pictures, each of data.size × data.size pixels, shows one figure
// (data/tasks/figure.h) that moves by one pixel per frame up, down, left or right. What leaves the
// picture at one edge reappears at the opposite edge. Positions and vectors are those of shapes,
// frame after frame: time, row, column. The label is the direction. With a size of 4:
//
//   . # . .     . . # .     . . . #     # . . .
//   # # # .     . # # #     # . # #     # # . #       label right
//   . # . .     . . # .     . . . #     # . . .
//   . . . .     . . . .     . . . .     . . . .
//
// Held out: the video, without its noise.
//
// The picture wraps around, so every frame is equally likely for all directions. One frame does not
// distinguish left from right, and neither does the mean over frames, which loses their order.
// Guessing gives 1/4, or 1/2 for a model that distinguishes vertical from horizontal.
#include "data/tasks/figure.h"
#include "data/tasks/task.h"

namespace heed {

static Task video_task(const DataOptions& options, Lengths) {
  const int64_t size = options.size, frames = options.frames;
  Task task;
  task.format.features = colour_channels;
  task.grid = {frames, size, size};
  task.labels = {"up", "down", "left", "right"};
  task.longest_input = frames * size * size;
  task.noise = options.noise;
  task.draw = [size, frames](Random& random, Example& example, Content& content) {
    const int32_t direction = any_below(random, 4);
    const Figure figure = draw_figure(random, size);
    const int32_t row = any_below(random, size), column = any_below(random, size);
    // One step back is size - 1 steps forward.
    const int64_t down = direction == 0 ? size - 1 : direction == 1;
    const int64_t right = direction == 2 ? size - 1 : direction == 3;
    const int64_t picture = size * size * colour_channels;
    std::vector<float>& features = example.features;
    features.assign(static_cast<size_t>(frames * picture), 0.0F);
    for (int64_t frame = 0; frame < frames; ++frame)
      paint(figure, row + frame * down, column + frame * right, size,
            features.data() + frame * picture);
    example.target.assign(1, direction);
    // The first picture and the direction determine the video. The figure does not: an L that fills
    // the picture is a + at another location.
    content.assign(features.begin(), features.begin() + picture);
    content.push_back(direction);
  };
  return task;
}

const DataKind data_kinds::video = {.name = "video",
                                    .keys = {"size", "noise", "frames", "augment"},
                                    .framings = {ModelKind::classifier},
                                    .task = video_task};

}  // namespace heed
