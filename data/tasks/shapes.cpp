// Shapes: which figure does the picture show? It takes both axes of the picture.
//
// A picture of data.size × data.size pixels is black but for one figure (data/tasks/figure.h) of
// random kind, size, place and colour. A place is a pixel, row by row, its vector the brightness of
// red, green and blue, 0 or 1, plus noise of deviation data.noise. The label is the figure. With a
// size of 4, in green:
//
//   . # # #
//   . . # .         0 0 0  0 1 0  0 1 0  0 1 0    0 0 0  0 0 0  0 1 0  0 0 0    …       label T
//   . . # .
//   . . . .
//
// Held out is the figure of this kind, size and colour at this place.
//
// Every figure of a size lights as many pixels, so that a model blind to positions (attention
// without positional encoding; the mean over all pixels) reaches chance, 1/6, and no more. To solve
// it, a pixel must find out what is beside, above and below it.
#include "data/tasks/drawn.h"
#include "data/tasks/figure.h"

namespace heed {

DrawnTask shapes_task(const DataOptions& options) {
  const int64_t size = options.size;
  DrawnTask task;
  task.format.features = colour_channels;
  task.grid = {size, size};
  task.labels.assign(std::begin(figure_names), std::end(figure_names));
  task.longest_input = size * size;
  task.noise = options.noise;
  task.draw = [size](Random& random, Example& example, Content& content) {
    const Figure figure = draw_figure(random, size);
    const int32_t row = any_below(random, size - figure.side + 1);
    const int32_t column = any_below(random, size - figure.side + 1);
    example.features.assign(static_cast<size_t>(size * size * colour_channels), 0.0F);
    paint(figure, row, column, size, example.features.data());
    example.target.assign(1, figure.kind);
    content.assign({figure.kind, figure.side, figure.colour, row, column});
  };
  return task;
}

}  // namespace heed
