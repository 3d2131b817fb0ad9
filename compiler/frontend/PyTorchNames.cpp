#include "compiler/frontend/PyTorchNames.h"
#include "compiler/frontend/EmbeddedHeaders.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace dl::frontend;

// PyTorch's vocabulary beyond the first hours, separated by blanks. Names stay
// here when <dl/dl.h> gets them: what it declares is no missing name.
static constexpr llvm::StringLiteral kVocabulary =
    // torch.nn
    "Bilinear Conv1d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d "
    "LazyLinear LazyConv2d "
    "MaxPool1d MaxPool3d AvgPool1d AvgPool2d AvgPool3d AdaptiveAvgPool1d "
    "AdaptiveAvgPool2d "
    "AdaptiveAvgPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d "
    "FractionalMaxPool2d LPPool2d "
    "MaxUnpool2d BatchNorm1d BatchNorm2d BatchNorm3d SyncBatchNorm "
    "InstanceNorm1d InstanceNorm2d "
    "InstanceNorm3d LayerNorm RMSNorm GroupNorm LocalResponseNorm Embedding "
    "EmbeddingBag Dropout1d Dropout3d "
    "AlphaDropout FeatureAlphaDropout RNN LSTM GRU RNNCell LSTMCell GRUCell "
    "MultiheadAttention "
    "TransformerEncoderLayer TransformerDecoderLayer TransformerEncoder "
    "TransformerDecoder Transformer ReLU6 "
    "SiLU Mish SELU Hardswish Hardsigmoid Hardtanh Hardshrink Softshrink "
    "Tanhshrink Softsign Softmin "
    "Softmax2d LogSigmoid LeakyReLU RReLU ELU CELU PReLU GELU Softplus "
    "Threshold GLU Unflatten ModuleList "
    "ModuleDict ParameterList ParameterDict Buffer Upsample PixelShuffle "
    "PixelUnshuffle ZeroPad2d "
    "ConstantPad2d ReflectionPad1d ReflectionPad2d ReplicationPad1d "
    "ReplicationPad2d CircularPad2d Unfold "
    "Fold CosineSimilarity PairwiseDistance ChannelShuffle utils "
    // losses
    "L1Loss SmoothL1Loss HuberLoss BCELoss BCEWithLogitsLoss KLDivLoss "
    "CosineEmbeddingLoss "
    "MarginRankingLoss TripletMarginLoss HingeEmbeddingLoss MultiMarginLoss "
    "MultiLabelMarginLoss "
    "MultiLabelSoftMarginLoss SoftMarginLoss PoissonNLLLoss GaussianNLLLoss "
    "CTCLoss l1_loss smooth_l1_loss "
    "huber_loss binary_cross_entropy binary_cross_entropy_with_logits kl_div "
    "cosine_embedding_loss "
    "margin_ranking_loss triplet_margin_loss hinge_embedding_loss "
    "multi_margin_loss poisson_nll_loss "
    "gaussian_nll_loss ctc_loss "
    // torch.nn.functional
    "gelu silu mish selu elu celu leaky_relu prelu rrelu relu6 hardswish "
    "hardsigmoid hardtanh softplus "
    "softsign softmin logsigmoid glu threshold gumbel_softmax layer_norm "
    "batch_norm instance_norm group_norm "
    "rms_norm local_response_norm normalize embedding embedding_bag one_hot "
    "pad interpolate upsample "
    "grid_sample affine_grid pixel_shuffle conv1d conv3d conv_transpose1d "
    "conv_transpose2d conv_transpose3d "
    "max_pool1d max_pool3d avg_pool1d avg_pool2d avg_pool3d "
    "adaptive_avg_pool1d adaptive_avg_pool2d "
    "adaptive_max_pool2d lp_pool2d unfold fold scaled_dot_product_attention "
    "multi_head_attention_forward "
    "cosine_similarity pairwise_distance alpha_dropout dropout1d dropout3d "
    "bilinear "
    // torch.nn, seldom used
    "AdaptiveLogSoftmaxWithLoss CrossMapLRN2d DataParallel "
    "FractionalMaxPool3d LPPool1d LPPool3d LazyBatchNorm1d LazyBatchNorm2d "
    "LazyBatchNorm3d LazyConv1d LazyConv3d LazyConvTranspose1d "
    "LazyConvTranspose2d LazyConvTranspose3d LazyInstanceNorm1d "
    "LazyInstanceNorm2d LazyInstanceNorm3d LinearCrossEntropyLoss "
    "MaxUnpool1d MaxUnpool3d TripletMarginWithDistanceLoss "
    "channel_shuffle feature_alpha_dropout fractional_max_pool2d "
    "fractional_max_pool3d hardtanh_ linear_cross_entropy lp_pool1d "
    "lp_pool3d max_unpool1d max_unpool2d max_unpool3d pdist threshold_ "
    "triplet_margin_with_distance_loss upsample_bilinear upsample_nearest "
    "addmv_ addr addr_ allclose arccos arccos_ arccosh arccosh_ arcsin "
    "arcsin_ arcsinh arcsinh_ arctan arctan2 arctan2_ arctan_ arctanh "
    "arctanh_ argwhere bitwise_and_ bitwise_left_shift bitwise_left_shift_ "
    "bitwise_not_ bitwise_or_ bitwise_right_shift bitwise_right_shift_ "
    "bitwise_xor_ broadcast_to cauchy_ cholesky_inverse cholesky_solve "
    "copysign copysign_ corrcoef count_nonzero cov cummin deg2rad deg2rad_ "
    "diagflat diagonal_scatter diff dist dsplit eig erfc_ erfinv_ "
    "fill_diagonal_ fix_ fliplr float_power float_power_ fmax fmin "
    "frexp gcd gcd_ geometric_ ger greater_equal greater_equal_ heaviside_ "
    "histogram hsplit hypot_ i0 i0_ isclose "
    "isneginf isposinf isreal lcm lcm_ ldexp_ less_equal less_equal_ "
    "lgamma_ log_normal_ logaddexp logaddexp2 logcumsumexp logdet logit_ "
    "lstsq lu matrix_exp matrix_power moveaxis msort nanmean nanmedian "
    "nansum ndimension nelement new_empty_strided nonzero_static not_equal "
    "not_equal_ pinverse polygamma_ qr qscheme rad2deg rad2deg_ ravel "
    "register_post_accumulate_grad_hook renorm renorm_ reshape_as resize_as "
    "resize_as_ scatter_reduce scatter_reduce_ signbit sinc sinc_ "
    "slogdet split_with_sizes stft subtract subtract_ sum_to_size swapdims "
    "swapdims_ triangular_solve true_divide_ unique_consecutive vdot vsplit "
    "xlogy_ "
    "alpha_dropout_ atleast_1d atleast_2d atleast_3d bartlett_window "
    "binomial blackman_window block_diag broadcast_shapes broadcast_tensors "
    "bucketize chain_matmul column_stack combinations concatenate "
    "cumulative_trapezoid dstack empty_permuted empty_strided "
    "feature_alpha_dropout_ feature_dropout feature_dropout_ from_numpy "
    "hamming_window hann_window histogramdd isin kaiser_window "
    "matrix_rank poisson polar row_stack scalar_tensor searchsorted "
    "trapezoid trapz use_deterministic_algorithms view_as_complex "
    "view_as_real while_loop "
    "eigh eigvals eigvalsh inv matrix_norm matrix_sqrth multi_dot pinv "
    "solve_triangular svdvals vecdot vector_norm "
    "clip_grad clip_grad_norm clip_grads_with_norm_ fuse_conv_bn_eval "
    "fuse_conv_bn_weights fuse_linear_bn_eval fuse_linear_bn_weights "
    "parameters_to_vector parametrizations parametrize remove_spectral_norm "
    "remove_weight_norm skip_init vector_to_parameters "
    // torch.distributions
    "AbsTransform AffineTransform Beta Binomial CatTransform Cauchy Chi2 "
    "ComposeTransform ContinuousBernoulli CorrCholeskyTransform "
    "CumulativeDistributionTransform Dirichlet ExpTransform "
    "Exponential ExponentialFamily FisherSnedecor GeneralizedPareto "
    "Geometric Gumbel HalfCauchy HalfNormal "
    "IndependentTransform InverseGamma Kumaraswamy LKJCholesky Laplace "
    "LogNormal LogisticNormal LowRankMultivariateNormal "
    "LowerCholeskyTransform MixtureSameFamily Multinomial "
    "MultivariateNormal NegativeBinomial OneHotCategorical "
    "OneHotCategoricalStraightThrough Pareto Poisson "
    "PositiveDefiniteTransform PowerTransform RelaxedBernoulli "
    "RelaxedOneHotCategorical ReshapeTransform SigmoidTransform "
    "SoftmaxTransform SoftplusTransform StackTransform "
    "StickBreakingTransform StudentT TanhTransform "
    "TransformedDistribution VonMises Weibull Wishart "
    // optimizers and schedulers
    "Adamax NAdam RAdam Adagrad Adadelta RMSprop LBFGS "
    "LAMB "
    "SparseAdam ParamGroup lr_scheduler LambdaLR MultiplicativeLR StepLR "
    "MultiStepLR ConstantLR LinearLR "
    "ExponentialLR PolynomialLR CosineAnnealingLR CosineAnnealingWarmRestarts "
    "SequentialLR ChainedScheduler "
    "CyclicLR OneCycleLR ReduceLROnPlateau swa_utils clip_grad_norm_ "
    "clip_grad_value_ set_lr "
    // initial values
    "trunc_normal_ eye_ dirac_ orthogonal_ sparse_ "
    // tensors
    "empty linspace logspace eye randint randperm tril triu tril_indices "
    "triu_indices tensor from_blob "
    "empty_like randint_like bernoulli multinomial log1p log2 log10 expm1 exp2 "
    "tan asin acos atan atan2 sinh "
    "cosh asinh acosh atanh clamp clip clamp_min clamp_max lerp addcmul "
    "addcdiv ceil round trunc frac fmod "
    "remainder isnan isinf isfinite masked_fill prod min amin aminmax argmin "
    "any all std var std_var norm "
    "logsumexp cumsum cumprod cummax median mode quantile kthvalue addmm addmv "
    "baddbmm addbmm outer "
    "inner dot mv cross kron tensordot linalg fft svd inverse det cholesky "
    "solve "
    "unflatten swapaxes movedim "
    "repeat tile repeat_interleave chunk split tensor_split unbind cat concat "
    "stack hstack vstack narrow "
    "select slice index roll flip rot90 gather scatter scatter_ scatter_add "
    "scatter_add_ scatter_reduce scatter_reduce_ index_reduce "
    "index_reduce_ index_select "
    "index_add take take_along_dim masked_select topk sort argsort nonzero "
    "unique bincount histc diagonal "
    "diag diag_embed trace meshgrid cartesian_prod cdist floor_divide "
    "true_divide bitwise_and bitwise_or "
    "bitwise_xor bitwise_not logical_xor erfc erfinv lgamma digamma nan_to_num "
    "heaviside hypot ldexp "
    "bitwise_left_shift bitwise_right_shift func Gamma Beta "
    "Dirichlet Exponential Poisson Laplace Uniform MultivariateNormal "
    "xlogy logit polygamma sigmoid_ relu_ add_ sub_ mul_ div_ zero_ fill_ "
    "copy_ clamp_ exp_ uniform_ normal_ "
    "register_hook retain_grad requires_grad requires_grad_ is_leaf "
    "stop_gradient checkpoint grad_fn "
    "custom_op shard stage_boundary Stage Mesh parallel print named_buffers "
    "buffers register_buffer children "
    "named_children modules named_modules state_dict load_state_dict "
    "set_dropout "
    // data
    "EMNIST ImageNet TokenBin "
    "RandomPerspective RandomAdjustSharpness RandomAutocontrast "
    "RandomEqualize RandomPosterize RandomChoice RandomOrder "
    "ElasticTransform FiveCrop TenCrop "
    "AutoAugment RandAugment TrivialAugmentWide AugMix MixUp CutMix";

/// Of bf16 and its relatives.
static constexpr char kMixed[] =
    "the model says nothing of it: dlcc --dtype=bf16 trains it in mixed "
    "precision, as autocast with bfloat16 does";

/// What one line of the user's does instead.
static constexpr PyTorchName kReplaced[] = {
    {"erfc", "write 1 - x.erf(), which is 0 from 6 on", true},
    {"aminmax", "write dl::aminmax(x, {.dim = 1})", false},
    {"cov", "write dl::cov(x)", false},
    {"corrcoef", "write dl::corrcoef(x)", false},
    {"heaviside", "write dl::heaviside(x, values)", false},
    {"rot90", "write dl::rot90(x, 1, {2, 3})", false},
    {"cholesky_solve", "write dl::cholesky_solve(b, l)", false},
    {"masked_select",
     "how many elements there are is not known when the graph is built; write "
     "dl::where or masked_fill",
     true},
    {"nonzero",
     "how many elements there are is not known when the graph is built; write "
     "dl::where or masked_fill",
     true},
    {"unique",
     "how many elements there are is not known when the graph is built", true},
    {"from_pretrained",
     "write the layer, and layer.weight.copy_(values), or --init FILE", true},
    {"SWALR", "write lr_scheduler::SequentialLR, or LambdaLR", true},
    {"update_bn",
     "averaged models have the latest statistics, or with {.use_buffers = "
     "true} averages of them",
     true},
    {"weight_norm", "write nn::utils::weight_norm(nn::Linear(20, 40))", false},
    {"spectral_norm", "write nn::utils::spectral_norm(nn::Conv2d(3, 64, 4))",
     false},
    {"broadcast_tensors", "write x.expand(size)", true},
    {"clip_grad_norm", "write nn::utils::clip_grad_norm_", true},
    {"ConcatDataset",
     "write dl::data::TensorDataset({\"x-*.npy\", \"y-*.npy\"}): a name with a "
     "'*' stands for all files that are like it",
     true},
    {"random_split", "write dl::data::random_split(data, {0.9, 0.1})", true},
    {"index_fill", "write x.index_fill(dim, index, value)", true},
    {"index_copy", "write x.index_copy(dim, index, source)", true},
    {"put_", "write x.view(-1).index_put_({index}, values)", true},
    {"vmap",
     "ops take any leading dims, so that a batch needs no map: write the "
     "function for [B, ...]",
     true},
    {"vector_norm", "write x.norm(p, dim)", true},
    {"swapaxes_", "write x = x.swapaxes(dim0, dim1)", true},
    {"resize_", "a tensor keeps its size; write another one", true},
    {"random_", "write x.copy_(dl::randint(low, high, x.sizes()))", true},
    {"squeeze_", "write x = x.squeeze(dim)", true},
    {"unsqueeze_", "write x = x.unsqueeze(dim)", true},
    {"transpose_", "write x = x.transpose(dim0, dim1)", true},
    {"t_", "write x = x.t()", true},
    {"new_tensor", "write dl::tensor({...})", true},
    {"upsample", "write F::interpolate", true},
    {"Softmax2d", "write nn::Softmax{1}", true},
    {"SyncBatchNorm",
     "write nn::BatchNorm2d, whose statistics are those of all devices", true},
    {"scan", "write a loop, which is unrolled", true},
    {"grad",
     "write loss.backward(), then parameter.grad(), or "
     "dl::autograd::grad(loss, x)[0]",
     true},
    {"RandomSampler", "write .shuffle = true", true},
    {"SequentialSampler", "without .shuffle items come in their order", true},
    {"register_forward_hook",
     "forward() is called once for the graph: let it keep what a layer gives "
     "in a member, or return it",
     true},
    {"register_forward_pre_hook",
     "forward() is called once for the graph: write it in front of the call",
     true},
    {"kBFloat16", kMixed, true},
    {"kFloat16", kMixed, true},
    {"kHalf", kMixed, true},
    {"bfloat16", kMixed, true},
    {"half", kMixed, true},
    {"amp", kMixed, true},
    {"autocast", kMixed, true},
};

static constexpr PyTorchName kInstead[] = {
    {"torch", "the namespace is dl", false},
    {"register_module",
     "not needed: members of a module are found and named by the compiler",
     false},
    {"TORCH_MODULE", "not needed: the struct itself is the module", false},
    {"register_parameter",
     "not needed: a dl::Parameter member is found and named by the compiler",
     false},
    {"to", "not needed: where a plan runs is not part of the model", false},
    {"cuda", "not needed: where a plan runs is not part of the model", false},
    {"cpu", "not needed: where a plan runs is not part of the model", false},
    {"kCPU", "not needed: where a plan runs is not part of the model", false},
    {"Device", "not needed: where a plan runs is not part of the model", false},
    {"nullopt",
     "write dl::None in an index or a size, 0 for a momentum; elsewhere leave "
     "the argument out",
     false},
    {"device", "not needed: where a plan runs is not part of the model", false},
    {"kCUDA", "not needed: where a plan runs is not part of the model", false},
    {"GradScaler", "not needed: gradients of f32 do not underflow so", false},
    {"register_hook",
     "gradients are looked at and changed after backward(): parameter.grad()",
     false},
    {"register_buffer",
     "not needed: a dl::Buffer member is found and named by the compiler",
     false},
    {"__init__", "not needed: members are initialised where they stand", false},
    {"no_grad", "write { dl::NoGradGuard no_grad; ... }, or x.detach()", false},
    {"inference_mode", "write { dl::NoGradGuard no_grad; ... }, or x.detach()",
     false},
    {"InferenceMode", "write dl::NoGradGuard", false},
    {"manual_seed", "the seed is set with dlrun --seed", false},
    {"numpy",
     "a tensor has no value while the graph is being built; return it "
     "in dl::Metrics to see it",
     false},
    {"tolist",
     "a tensor has no value while the graph is being built; return "
     "it in dl::Metrics to see it",
     false},
    {"checkpoint", "write dl::checkpoint(module, x)", false},
    {"saved_tensors", "write get_saved_variables()", false},
    {"variable_list", "write dl::TensorList", false},
    {"Variable", "write dl::Tensor", false},
    {"needs_input_grad",
     "not needed: of what backward() gives the step computes what it uses",
     false},
    {"set_materialize_grads",
     "gradients of outputs that the loss does not use are zeros", false},
    {"mark_dirty",
     "not needed: what forward() changes in place and gives is a value of its "
     "own",
     false},
    {"INFINITY", "write dl::inf, or add #include <cmath>", false},
    {"True", "write true", false},
    {"False", "write false", false},
    {"None", "write dl::None in an index; elsewhere leave the argument out",
     false},
    {"training", "write is_training()", false},
    {"self", "members stand by their names alone", false},
    {"mutable_grad", "write p.grad() = value", false},
    {"shape", "write sizes(), or size(dim)", false},
    {"deepcopy",
     "make a second module, and second.load_state_dict(first.state_dict())",
     false},
    {"enumerate", "count in the loop: for (int i = 0; i < n; ++i)", false},
    {"T", "write t(), or transpose(dim0, dim1)", false},
    {"Pad", "write F::pad(x, {left, right, top, bottom})", false},
    {"PILToTensor", "not needed: pictures of a data set are numbers", false},
    {"ConvertImageDtype", "write x.to(dl::kFloat) / 255", false},
    {"save", "weights are written with dlrun --save-final", false},
    {"load", "weights are read with dlrun --init", false},
};

static bool isWordChar(char c) { return llvm::isAlnum(c) || c == '_'; }

/// Whether `name`, which stands between the two texts, is declared there:
/// `class GELU`, `Tensor clamp(`, or a word of a list of macros, `OP(log1p)`.
static bool isDeclaration(llvm::StringRef before, llvm::StringRef after) {
  llvm::StringRef line = before.substr(before.rfind('\n') + 1);
  if (line.ends_with("class ") || line.ends_with("struct ") ||
      line.ends_with("OP(") || line.starts_with("DL_"))
    return true;
  bool typed = line.ends_with(" ") || line.ends_with("&");
  line = line.rtrim(" &");
  return typed && after.starts_with("(") && !line.empty() &&
         isWordChar(line.back()) && !line.ends_with("return");
}

/// <dl/dl.h> has a class, a function or a method of that name, perhaps
/// elsewhere than the user looked for it: Clang's own message says where.
template <class Where>
static bool isDeclared(llvm::StringRef name, Where where) {
  for (const EmbeddedHeader &header : embeddedHeaders())
    for (size_t at = header.text.find(name); at != llvm::StringRef::npos;
         at = header.text.find(name, at + 1)) {
      llvm::StringRef before = header.text.take_front(at);
      llvm::StringRef after = header.text.drop_front(at + name.size());
      bool whole = !(before.size() && isWordChar(before.back())) &&
                   !(after.size() && isWordChar(after.front()));
      if (whole && isDeclaration(before, after) && where(before))
        return true;
    }
  return false;
}
static bool isDeclared(llvm::StringRef name) {
  return isDeclared(name, [](llvm::StringRef) { return true; });
}

bool dl::frontend::isFunctional(llvm::StringRef name) {
  return isDeclared(name, [](llvm::StringRef before) {
    size_t opened = before.rfind("functional {\n"),
           closed = before.rfind("} // namespace");
    // (nn::functional::detail closes within.)
    for (; closed != llvm::StringRef::npos &&
           before.substr(closed).starts_with("} // namespace detail");)
      closed = before.take_front(closed).rfind("} // namespace");
    return opened != llvm::StringRef::npos &&
           (closed == llvm::StringRef::npos || closed < opened);
  });
}

const PyTorchName *dl::frontend::findPyTorchName(llvm::StringRef name) {
  static const llvm::StringMap<PyTorchName> names = [] {
    llvm::StringMap<PyTorchName> map;
    llvm::SmallVector<llvm::StringRef, 0> missing;
    kVocabulary.split(missing, ' ', -1, /*KeepEmpty=*/false);
    for (llvm::StringRef one : missing)
      map[one] = {one, nullptr, true};
    for (const PyTorchName &one : kReplaced)
      map[one.name] = one;
    for (const PyTorchName &one : kInstead)
      map[one.name] = one;
    return map;
  }();
  auto found = names.find(name);
  if (found == names.end() || (!found->second.instead && isDeclared(name)))
    return nullptr;
  return &found->second;
}
