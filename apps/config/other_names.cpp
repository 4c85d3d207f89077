#include "apps/config/other_names.h"

#include <algorithm>
#include <cctype>
#include <iterator>

namespace heed {
namespace {

struct OtherNames {
  const char* key;
  const char* names;  // with a space on both sides of each
};

constexpr OtherNames other_names[] = {
    {"seed", " random_seed manual_seed "},
    {"threads", " num_threads num_workers "},
    {"precision", " dtype fp16 bf16 amp float32_matmul_precision "},
    {"train.steps", " max_iters max_steps updates epochs num_epochs num_train_epochs iterations "},
    {"train.batch_size", " per_device_train_batch_size train_batch_size "},
    {"train.accumulate", " gradient_accumulation_steps batch_multiplier accumulate_grad_batches "},
    {"train.evaluate_every", " eval_interval validation_freq eval_steps valid_freq "},
    {"train.evaluate_batch_size", " eval_batch_size per_device_eval_batch_size "},
    {"train.checkpoint_every", " save_steps save_interval save_every checkpoint_interval "},
    {"train.keep_checkpoints", " keep_best_ckpts keep_last_ckpts save_total_limit "},
    {"train.log_every", " log_interval logging_freq logging_steps "},
    {"train.samples", " print_valid_sents num_samples "},
    {"train.best_by", " early_stopping_metric metric_for_best_model "},
    {"train.patience", " early_stopping_patience "},
    {"train.load", " load_model init_from load_encoder load_decoder "},
    {"model.layers", " n_layer n_layers num_layers num_encoder_layers num_hidden_layers "},
    {"model.decoder_layers", " num_decoder_layers "},
    {"model.dim", " d_model n_embd embed_dim embedding_dim hidden_size hidden_dim "},
    {"model.heads", " n_head n_heads nhead num_heads num_attention_heads "},
    {"model.feed_forward", " dim_feedforward d_ff ff_size intermediate_size "},
    {"model.activation", " hidden_act activation_function "},
    {"model.dropout", " hidden_dropout_prob resid_pdrop dropout_p "},
    {"model.attention_dropout", " attention_probs_dropout_prob attn_pdrop "},
    {"model.norm_epsilon", " layer_norm_eps layer_norm_epsilon rms_norm_eps "},
    {"model.norm_first", " layer_norm pre_norm "},
    {"model.tie_weights", " tied_softmax tie_word_embeddings weight_tying "},
    {"model.share_embeddings", " tied_embeddings "},
    {"model.positional.max_length", " max_position_embeddings n_positions max_len "},
    {"model.positional.base", " rope_theta "},
    {"model.attention.key_dim", " kdim d_k "},
    {"model.attention.value_dim", " vdim d_v "},
    {"model.init.kind", " initializer embed_initializer "},
    {"model.init.gain", " init_gain embed_init_gain "},
    {"model.init.std", " init_weight initializer_range init_std "},
    {"optim.kind", " optimizer "},
    {"optim.lr", " learning_rate base_lr max_lr "},
    {"optim.clip_norm", " grad_clip clip_grad_norm max_norm max_grad_norm gradient_clip_val "},
    {"optim.beta1", " betas adam_betas adam_beta1 "},
    {"optim.beta2", " adam_beta2 "},
    {"optim.epsilon", " eps adam_eps adam_epsilon "},
    {"schedule.kind", " scheduling scheduler lr_scheduler lr_scheduler_type decay_lr "},
    {"schedule.warmup_steps",
     " warmup warmup_iters learning_rate_warmup num_warmup_steps n_warmup_steps "},
    {"schedule.steps", " lr_decay_iters t_max num_training_steps total_steps "},
    {"schedule.min_lr", " learning_rate_min eta_min "},
    {"schedule.factor", " decrease_factor "},
    {"data.kind", " dataset "},
    {"data.path", " train_file train_path "},
    {"data.val_path", " dev dev_path valid validation_file "},
    {"data.test_path", " test test_file "},
    {"data.level", " token_type "},
    {"data.context", " block_size seq_len seq_length sequence_length bptt "},
    {"data.max_length", " max_sent_length max_seq_length max_seq_len max_source_length "},
    {"data.min_count", " min_frequency min_freq voc_min_freq "},
    {"data.max_vocabulary", " vocab_size voc_limit max_vocab_size num_embeddings "},
    {"data.vocabulary", " voc_file "},
    {"data.tokenizer", " tokenizer_model model_file "},
};

}  // namespace

std::string key_of_other_name(std::string_view name) {
  std::string word = " " + std::string(name) + " ";
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  const auto found = std::ranges::find_if(other_names, [&](const OtherNames& other) {
    return std::string_view(other.names).find(word) != std::string_view::npos;
  });
  return found == std::end(other_names) ? "" : found->key;
}

}  // namespace heed
