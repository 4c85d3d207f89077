#pragma once

#include "nn/graph.h"
