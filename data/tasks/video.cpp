// Video: which way does the figure move? It takes two frames at least, and both axes of them.
//
// A film of data.frames pictures, each of data.size × data.size pixels, shows one figure
// (data/tasks/figure.h) that moves by a pixel a frame up, down, left or right; what leaves the
// picture at one edge comes back at the other. Places and vectors are those of shapes, frame after
// frame: time, row, column. The label is the direction. With a size of 4:
//
//   . # . .     . . # .     . . . #     # . . .
//   # # # .     . # # #     # . # #     # # . #       label right
//   . # . .     . . # .     . . . #     # . . .
//   . . . .     . . . .     . . . .     . . . .
//
// Held out is the film but for its noise.
//
// Since the picture has no edges, every frame by itself is as likely in every film: one frame, or
// the mean over frames in which their order is lost, tells nothing of left against right. Chance is
// 1/4, for who tells vertical from horizontal 1/2.
#include "data/tasks/drawn.h"
#include "data/tasks/figure.h"

namespace heed {

DrawnTask video_task(const DataOptions& options) {
  const int64_t size = options.size, frames = options.frames;
  DrawnTask task;
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
    example.features.assign(static_cast<size_t>(frames * picture), 0.0F);
    for (int64_t frame = 0; frame < frames; ++frame)
      paint(figure, row + frame * down, column + frame * right, size,
            example.features.data() + frame * picture);
    example.target.assign(1, direction);
    // The film is its first picture and the direction. (The figure would not do: if it fills the
    // picture, an L is a + elsewhere.)
    content.assign(example.features.begin(), example.features.begin() + picture);
    content.push_back(direction);
  };
  return task;
}

}  // namespace heed
