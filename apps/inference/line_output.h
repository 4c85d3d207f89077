// Outputs of a model for lines of input, as text or JSON, one or more lines for each.
#pragma once

#include <functional>
#include <string>

#include "apps/inference/generation.h"
#include "apps/support/json.h"
#include "data/corpus.h"

namespace heed {

struct LineOutput {
  std::string path;            // of the input; "-": standard input
  int64_t* skipped = nullptr;  // leave out tokens that are not in the vocabulary, and count them
  bool scores = false;         // text: print the score and a tab before each output
  bool json = false;           // print one object for each line
  int64_t positions = 0;       // the maximum number of tokens in a line; 0: no limit
  // Called with lines before the model reads them, to reject them; null: none are.
  std::function<void(std::span<const Sequence>)> check = {};
};

// The ranks (core/ranks.h) share the lines; rank 0 reads and prints them.

// Both print, for each line, n_best lines of text with one output each, the best first, or an
// object with the line's number, its text and all that the model computed. Output is sent as soon
// as a line is answered. A line that cannot be read is logged as an error and answered by n_best
// empty lines, or an object with the error. Both return the number of such lines. An empty line has
// empty outputs.
int64_t print_outputs(const Seq2Seq& model, const Corpus& corpus, const OutputOptions& options,
                      const LineOutput& output);
int64_t print_classes(const Classifier& model, const Corpus& corpus, int64_t n_best,
                      const LineOutput& output);

// Prints options.count continuations for each line, which is a prompt: one line of text each, or an
// object. Between texts that may have several lines it prints a line of hyphens. `with_prompt`:
// texts begin with the prompt. `encode` maps a line to a prompt of at least one token.
int64_t print_continuations(const LanguageModel& model, const TextCodec& codec,
                            const ContinuationOptions& options, bool with_prompt,
                            const std::function<Sequence(const std::string&)>& encode,
                            const LineOutput& output);
// Prints, for each line of input, the mean loss of its tokens, a tab and the line, or an object
// with the loss of each token. The model reads what generation without a prompt starts from
// (default_prompt()), then the line, then <eos> if the vocabulary has it. Lines that cannot be
// read: see print_outputs(). Returns their number. An empty line is scored only if it has <eos>.
int64_t print_losses(const LanguageModel& model, const TextCodec& codec, int64_t window,
                     const LineOutput& output);

inline constexpr const char* separator_line = "---------------";

// Returns {"text", "log_probability", "tokens", "log_probabilities"}. The text begins with the
// prompt. <eos> is the last token of a complete output.
Json output_json(const TextCodec& codec, const Sequence& prompt, const Hypothesis& found);

void print_line(const std::string& line);
// Prints an output, after its score if `scored`.
void print_output(double score, const std::string& text, bool scored);

}  // namespace heed
