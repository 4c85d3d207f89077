#pragma once

#include "nn/graph.h"   // Edges is there now
#include "nn/mixing.h"  // the rest
