#include "data/tasks/figure.h"

#include <iterator>

#include "data/tasks/task.h"

namespace heed {

Figure draw_figure(Random& random, int64_t size) {
  const int32_t kind = any_below(random, std::size(figure_kinds));
  const int32_t side = 3 + 2 * any_below(random, (size - 1) / 2);
  return {kind, side, 1 + any_below(random, 7)};
}

void paint(const Figure& figure, int64_t row, int64_t column, int64_t size, float* picture) {
  const FigureKind& kind = figure_kinds[figure.kind];
  for (int32_t i = 0; i < figure.side; ++i)
    for (int32_t j = 0; j < figure.side; ++j) {
      if (!kind.lights(i, j, figure.side - 1)) continue;
      float* pixel = picture + ((row + i) % size * size + (column + j) % size) * colour_channels;
      for (int channel = 0; channel < colour_channels; ++channel)
        pixel[channel] = static_cast<float>(figure.colour >> channel & 1);
    }
}

}  // namespace heed
