# The configs of three small trainings, to be sourced after runs.sh, with the program in $program: a seq2seq model, a language
# model whose measures are taken while it trains, and a classifier. They train for some seconds.
cat >base.toml <<'TOML'
seed = 7
threads = 1
[train]
steps = 40
batch_size = 6
evaluate_every = 15
checkpoint_every = 10
log_every = 3
samples = 0
[model]
layers = 1
dim = 32
heads = 2
[optim]
lr = 3e-3
[data]
symbols = 10
lengths = [1, 8]
train_size = 100
val_size = 40
test_size = 40
TOML
# Dropout, two micro-batches per step in two shards, epochs that end within a step, and a schedule with state.
cat >plateau.toml <<'TOML'
base = "base.toml"
[train]
accumulate = 2
shards = 2
[model]
kind = "seq2seq"
dropout = 0.1
attention_dropout = 0.1
[schedule]
kind = "plateau"
factor = 0.5
patience = 0
threshold = 0.05
[data]
kind = "reverse"
TOML
cat >language.toml <<TOML
base = "base.toml"
[train]
keep_checkpoints = 3
measures = $(measures)
measure_every = 5
[model]
kind = "language_model"
dropout = 0.1
tie_weights = true
[optim]
kind = "sgd"
momentum = 0.9
[data]
kind = "sort"
TOML
cat >classifier.toml <<'TOML'
base = "base.toml"
[train]
accumulate = 3
patience = 4
[model]
kind = "classifier"
attention_dropout = 0.2
[schedule]
kind = "cosine"
warmup_steps = 10
[data]
kind = "set"
lengths = [2, 8]
TOML
configs=(plateau language classifier)
