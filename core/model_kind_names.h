// The kinds of models as words of a config.
#pragma once

#include "core/inputs.h"
#include "core/named.h"

namespace heed::inline HEED_REAL {

// Each word of model.kind with the kind.
inline constexpr Named<ModelKind> model_kind_names[] = {
    {"seq2seq", ModelKind::seq2seq},
    {"language_model", ModelKind::language_model},
    {"classifier", ModelKind::classifier}};

}  // namespace heed::inline HEED_REAL
