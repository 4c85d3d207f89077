// Answers lines of text with a trained model: with the outputs of an encoder-decoder, the labels of
// a classifier, the continuations of a language model, or the scores of the lines. The commands
// generate and evaluate print the answers, and Run (apps/run/run.h) returns them.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "apps/config/experiment.h"
#include "apps/inference/generation.h"
#include "apps/inference/vocabulary_file.h"
#include "apps/support/json.h"

namespace heed {

// The maximum number of tokens in a line: attention over that many takes seconds.
inline constexpr int64_t max_line_tokens = 1 << 15;

struct InputLine {
  int64_t number;  // in its file, from 1; 0: not from a file
  std::string text;
  Sequence ids;
  std::string error = {};  // why it has no ids
};

struct AnswerOptions {
  bool json = false;           // an object with all that the model computed, not a text
  bool scores = false;         // texts begin with their score and a tab
  bool with_prompt = true;     // texts that continue a prompt begin with it, except for tasks
  int64_t* skipped = nullptr;  // counts tokens that are not in the vocabulary, and skips them
  // Called with the lines before the model reads them; throws to reject one. Null: accepts all.
  std::function<void(std::span<const Sequence>)> check = {};
};

// How a model answers lines. It refers to the model and the corpus that it was made with.
struct Answerer {
  // Returns the tokens of a line. Throws InputError for a line that the model cannot read.
  std::function<Sequence(const std::string&)> encode;
  // Returns the texts that answer each line, the best first, or one object as text. Each line must
  // have tokens. The ranks (core/ranks.h) share the lines, and all get the answers.
  std::function<std::vector<std::vector<std::string>>(std::span<const InputLine>)> answers;
  bool json = false;
  int64_t count = 1;       // maximum number of texts for each line
  int64_t positions = 0;   // the maximum number of tokens in a line; 0: no limit
  bool separated = false;  // texts may have several lines: print a line of hyphens between them
};

// Returns how a trained model generates by default: the most likely output, for a task as long as
// its targets. A language model of texts or lines samples, with the seed of the run.
GenerationOptions default_generation(const Experiment& experiment, const Corpus& corpus);

// Answers with generation.count outputs or labels of a line, or continuations of it as a prompt.
// The score of a text is its log probability. The score of a label is its probability. With data
// whose targets are at positions the answer is what the model predicts at each position of a line.
Answerer generation_answerer(const Model& model, const Experiment& experiment, const Corpus& corpus,
                             const GenerationOptions& generation, const AnswerOptions& options);
// Answers with the mean loss of the line's tokens, a tab and the line, or an object with the loss
// and the probability of each token, and the most likely token in its place. The model reads what
// generation without a prompt starts from (default_prompt()), then the line, then <eos> if the
// vocabulary has it. An empty line is scored only if it has <eos>. It reads a line that is longer
// than its context in windows. The object has their "context" and "stride" if the model has a
// limit.
Answerer loss_answerer(const Model& model, const TextCodec& codec, const Windows& windows,
                       const AnswerOptions& options);

// Returns the tokens of a line; none for an empty one, unless the model starts by itself. Throws
// InputError for a line that the model cannot read, or that has too many tokens.
Sequence tokens_of(const Answerer& answerer, const std::string& line);

// Prints the answers to the lines of a file, or of standard input for "-". Rank 0 reads and prints.
// Answers are sent as soon as lines have arrived, for at most 256 of them together, so that a
// program at the other end of a pipe gets its answer before it sends the next line. Text has
// answerer.count lines for each line of input, and empty ones where there are fewer answers; JSON
// has one object with the line's number and its text. A line that cannot be read is logged as an
// error with its number, and answered by empty lines or an object with the error. Returns the
// number of such lines. An empty line has empty answers. `level` is that of the model's tokens.
int64_t print_answers(const Answerer& answerer, const std::string& path, Level level);
// Prints the answers to one line that is not from a file.
void print_answer(const Answerer& answerer, const InputLine& line);

// Returns {"line", "input"}, the first members of each object.
Json row_of(const InputLine& line);

}  // namespace heed
