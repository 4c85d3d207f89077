#pragma once

#include "nn/module.h"  // ModuleScope is there now
