// Shapes: which figure does the picture show? This takes both axes of the picture.
//
// A picture of data.size × data.size pixels is black except for one figure (data/tasks/figure.h) of
// random kind, size, location and colour. A position is a pixel, row by row. Its vector is the
// brightness of red, green and blue, 0 or 1, plus noise of standard deviation data.noise. The label
// is the figure. With a size of 4, in green:
//
//   . # # #
//   . . # .         0 0 0  0 1 0  0 1 0  0 1 0    0 0 0  0 0 0  0 1 0  0 0 0    …       label T
//   . . # .
//   . . . .
//
// Held out: the figure of this kind, size and colour at this location.
//
// All figures of one size have the same number of lit pixels, so that a model that ignores
// positions (attention without positional encoding, the mean over all pixels) is no better than
// guessing, 1/6. To solve it, a pixel must find out what is beside, above and below it.
#include "data/tasks/figure.h"
#include "data/tasks/task.h"

namespace heed {

static Task shapes_task(const DataOptions& options, Lengths) {
  const int64_t size = options.size;
  Task task;
  task.format.features = colour_channels;
  task.grid = {size, size};
  for (const FigureKind& kind : figure_kinds) task.labels.push_back(kind.name);
  task.longest_input = size * size;
  task.noise = options.noise;
  task.draw = [size](Random& random, Example& example, Content& content) {
    const Figure figure = draw_figure(random, size);
    const int32_t row = any_below(random, size - figure.side + 1);
    const int32_t column = any_below(random, size - figure.side + 1);
    std::vector<float>& features = example.features;
    features.assign(static_cast<size_t>(size * size * colour_channels), 0.0F);
    paint(figure, row, column, size, features.data());
    example.target.assign(1, figure.kind);
    content.assign({figure.kind, figure.side, figure.colour, row, column});
  };
  return task;
}

const DataKind data_kinds::shapes = {.name = "shapes",
                                     .keys = {"size", "noise", "augment"},
                                     .framings = {ModelKind::classifier},
                                     .task = shapes_task};

}  // namespace heed
