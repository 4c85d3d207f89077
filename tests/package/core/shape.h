// A header of the client's own whose name heed uses too.
#pragma once

inline constexpr int corners_of_a_square = 4;
