// The functions of the playground's module, in C: what its page calls.
//
// Texts are UTF-8. A returned text is valid until the next call. Those that can fail return null,
// and heed_error() says why, in one line.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct HeedSession HeedSession;

const char* heed_error(void);
// JSON of every key of a config: see playground_keys() in session.h.
const char* heed_keys(void);

// Makes a session from the text of a config, with a mistake of course/playground/mistakes.h, or "".
// heed_free() frees it; null is allowed.
HeedSession* heed_make(const char* toml, const char* mistake);
void heed_free(HeedSession* session);

// JSON; see session.h for the members.
const char* heed_summary(HeedSession* session);
const char* heed_scores(HeedSession* session);
const char* heed_predictions(HeedSession* session, int32_t count, const char* without);
const char* heed_trace(HeedSession* session, const char* text, int32_t example, int32_t position,
                       const char* without);
const char* heed_heads(HeedSession* session);
const char* heed_ablate(HeedSession* session, const char* part);
const char* heed_positions(HeedSession* session);

// Updates the weights and writes the loss of the step. Returns the number of steps done, -1 for a
// failure.
int32_t heed_step(HeedSession* session, double* loss);

// Copies all weights to or from an array of heed_weight_count() elements of the library's type,
// float.
int32_t heed_weight_count(HeedSession* session);
void heed_weights(HeedSession* session, void* to);
void heed_set_weights(HeedSession* session, const void* from);

#ifdef __cplusplus
}
#endif
