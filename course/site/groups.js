// The groups of the reference pages, by what one wants, and what PyTorch's names are here.

// Names, folders and patterns of each group; the first that matches counts.
const groups = Object.entries({
  "Make a tensor": `
    Tensor Shape Ids Random StreamKey core/(shape|random|real|print|ids)[.]h`,
  "Combine and reorder": `
    add sub mul div matmul linear concat stack split permute transpose slice gather topk TopK
    embedding where`,
  "Element by element": `
    neg exp log sqrt pow activate dropout masked_fill core/activation(_names)?[.]h`,
  "Reduce and normalise": `
    sum mean max min var logsumexp layer_norm rms_norm segment_sum`,
  Attention: `
    softmax log_softmax hardmax sum_normalize segment_softmax scaled_dot_product_attention
    split_heads merge_heads rotary RotaryOptions KeepMask KeepMask::.*
    .*Attention(Options|Form|Form::.*|::.*)? HeadWidths Similarity(Rule)? NormaliserRule KeyValues
    Past KeyValueCache LearnedQueries .*(Bias|Positions|Positional.*) Mixing.* SequenceContext
    nn/(forms/)?(attention|similarity|normaliser|positional|positions|score_bias|mixings)[.]h`,
  Losses: `
    cross_entropy linear_cross_entropy mse_loss LabelSmoothing`,
  Gradients: `
    Backward Node Saved Unchanged Slot Input NoGradients Gradcheck.*
    core/(autograd|gradcheck/gradcheck)[.]h`,
  Models: `
    LanguageModel Seq2Seq Classifier Model.* ModuleScope Inputs Stack (En|De)coderLayer
    InputEmbedding nn/(models?|model_options|transformer|classifier|block)[.]h core/inputs[.]h`,
  Generate: `
    Search.* Sampling.* Hypothesis TokenRules DecodingOptions nn/(search|decoding)[.]h
    GenerateOptions`,
  "Look inside": `
    Recorder AttentionRecord Tap Observer.* AnomalyDetector FlopCounter nn/tap[.]h
    core/observer[.]h`,
  Layers: `
    nn/.*`,
  Optimizers: `
    optim/.*`,
  Data: `
    data/.*`,
  Runs: `
    Run Safetensors.* NamedArray .*/save[.]h core/safetensors[.]h apps/.*`,
  "Inside tensors, and other tools": `
    core/.*`,
}).map(([title, words]) => [title, new RegExp(`^(${words.trim().split(/\s+/).join("|")})$`)]);

export const groupNames = groups.map(([title]) => title);
export const groupOf = (name, file) =>
  (groups.find(([, names]) => names.test(name)) ?? groups.find(([, names]) => names.test(file)))[0];

// What it is here, its page, and PyTorch's names.
export const torchNames = `
reshape, which copies nothing | Tensor.class#reshape | Tensor.view Tensor.reshape torch.unsqueeze
  torch.squeeze torch.flatten Tensor.unflatten
Tensor::from | Tensor.class#from | torch.tensor torch.from_numpy
Tensor::zeros | Tensor.class#zeros | torch.zeros torch.zeros_like
clone | Tensor.class#clone | Tensor.clone Tensor.contiguous
set_requires_grad | Tensor.class#set_requires_grad | Tensor.requires_grad_
scaled_dot_product_attention, with the number of heads; AttentionOptions has scale and mask |
  scaled_dot_product_attention | F.scaled_dot_product_attention
MultiHeadAttention | MultiHeadAttention.class | nn.MultiheadAttention
KeepMask: true means that a query may read the key | KeepMask.class | attn_mask key_padding_mask
  is_causal torch.tril torch.triu
matmul | matmul | torch.mm torch.bmm torch.matmul torch.einsum
concat | concat | torch.cat torch.concatenate
split, by lengths | split | torch.chunk torch.tensor_split
transpose | transpose | torch.swapaxes Tensor.mT Tensor.t
slice | slice | torch.narrow
gather | gather | torch.take_along_dim torch.gather
add; + | add | torch.add
mul; * | mul | torch.mul
activate; relu(x), gelu(x), … | activate | F.relu F.gelu F.silu nn.ReLU nn.GELU nn.SiLU torch.tanh
  torch.sigmoid
linear; the layer is Linear | linear | F.linear
Linear | Linear.class | nn.Linear
Embedding | Embedding.class | nn.Embedding
embedding | embedding | F.embedding torch.index_select
Norm | Norm.class | nn.LayerNorm nn.RMSNorm
layer_norm | layer_norm | F.layer_norm
dropout | dropout | F.dropout nn.Dropout
softmax | softmax | F.softmax nn.Softmax
log_softmax | log_softmax | F.log_softmax
cross_entropy, from logits | cross_entropy | F.cross_entropy nn.CrossEntropyLoss F.nll_loss
mse_loss | mse_loss | F.mse_loss nn.MSELoss
segment_sum | segment_sum | Tensor.scatter_add torch.index_add
backward | core.autograd.h#backward | Tensor.backward torch.autograd.grad
NoGradients | NoGradients.class | torch.no_grad torch.inference_mode
gradcheck | core.gradcheck.gradcheck.h | torch.autograd.gradcheck
AnomalyDetector | AnomalyDetector.class | torch.autograd.set_detect_anomaly
Module | Module.class | nn.Module
Part, a member of a Module | Part.class | nn.Parameter nn.ModuleList
EncoderLayer | EncoderLayer.class | nn.TransformerEncoderLayer
DecoderLayer | DecoderLayer.class | nn.TransformerDecoderLayer
Stack | Stack.class | nn.TransformerEncoder nn.TransformerDecoder nn.Sequential
Seq2Seq | Seq2Seq.class | nn.Transformer
Gru | Gru.class | nn.GRU
Lstm | Lstm.class | nn.LSTM
Convolution | Convolution.class | nn.Conv1d nn.Conv2d nn.Conv3d
Recorder, and Tap to change what it sees | Recorder.class | register_forward_hook need_weights
Optimizer | Optimizer.class | torch.optim.AdamW torch.optim.Adam torch.optim.SGD
Schedule | Schedule.class | torch.optim.lr_scheduler
WeightAverage | WeightAverage.class | torch.optim.swa_utils.AveragedModel
Dataset | Dataset.class | torch.utils.data.Dataset
Batches | Batches.class | torch.utils.data.DataLoader
functions that save and load the weights of a Module | nn.save.h | torch.save torch.load
  state_dict load_state_dict
Random | Random.class | torch.manual_seed torch.Generator torch.randn
`
  .trim()
  .split(/\n(?! )/)
  .flatMap((line) => {
    const [here, page, names] = line.split(/\s+\|\s+/);
    const [file, anchor] = page.replace(".class", "-class").split("#");
    const url = `${file}.html${anchor ? `#${anchor}` : ""}`;
    return names.split(/\s+/).map((name) => ({ name, here: here.replace(/\s+/g, " "), page: url }));
  });
