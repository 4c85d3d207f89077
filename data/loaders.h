// The ways to a corpus, behind load_corpus(). Each fills source, target, labels, splits, the
// longest lengths and notes.
#pragma once

#include "data/corpus.h"
#include "data/files.h"

namespace heed {

Corpus load_task(const DataOptions& options, Framing framing, uint64_t seed);
Corpus load_drawn(const DataOptions& options, Framing framing, uint64_t seed);
Corpus load_text(const DataOptions& options, Files& files);
Corpus load_rows(const DataOptions& options, Files& files);  // lines, pairs, labelled
Corpus load_images(const DataOptions& options, Files& files);

}  // namespace heed
