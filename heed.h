// All public headers of heed: tensors and operations, modules, optimizers, data.
#pragma once

#include "core/autograd.h"
#include "core/ops.h"
#include "core/random.h"
#include "core/safetensors.h"
#include "core/scope.h"
#include "data/batch.h"
#include "data/corpus.h"
#include "data/sampler.h"
#include "nn/models.h"
#include "nn/recorder.h"
#include "nn/search.h"
#include "optim/average.h"
#include "optim/optimizer.h"
#include "optim/schedule.h"
