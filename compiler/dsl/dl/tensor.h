#pragma once
// Tensor.
#include "composed_methods.h"
#include "in_place_ops.h"
#include "keyword_methods.h"

namespace dl {
struct ValuesAndIndices;
class TensorList;
template <int N> struct Tensors;
class Index;
struct Complex;
inline Tensor rand_like(Tensor x);
inline Tensor randn_like(Tensor x);

class Tensor {
public:
  int id = -1;

  Tensor() = default;
  explicit Tensor(detail::Results<1> result) : id(result.ids[0]) {}
  Tensor(const Tensor &) = default;
  Tensor &operator=(const Tensor &) & = default;

  bool defined() const { return id >= 0; }
  Shape sizes() const {
    Shape shape;
    const i64 *dims = dl_shape(id, &shape.rank);
    for (int i = 0; i < shape.rank; ++i)
      shape.dims[i] = dims[i];
    return shape;
  }
  /// With names: auto [B, T, C] = x.sizes<3>();
  template <int N> Sizes<N> sizes() const {
    Shape shape = sizes();
    if (shape.rank != N)
      detail::fail("sizes<{}>: the tensor is {}", N, shape);
    Sizes<N> named;
    for (int i = 0; i < N; ++i)
      named.size[i] = shape[i];
    return named;
  }
  i64 size(int dim) const;
  int dim() const { return sizes().rank; }
  i64 numel() const { return sizes().numel(); }
  DType dtype() const { return static_cast<DType>(dl_dtype_of(id)); }
  bool is_floating_point() const {
    return static_cast<int>(dtype()) <= DL_FLOAT64;
  }

#define DL_METHOD(op) Tensor op() const;
  DL_UNARY_OPS(DL_METHOD)
  DL_INTEGER_UNARY_OPS(DL_METHOD)
  DL_COMPOSED_OPS(DL_METHOD)
  DL_TRIGONOMETRIC_OPS(DL_METHOD)
#undef DL_METHOD
#define DL_METHOD(op) Tensor op(const Operand &other) const;
  DL_BINARY_OPS(DL_METHOD)
#undef DL_METHOD
  Tensor add(const Operand &other, AddOptions options) const;
  Tensor sub(const Operand &other, AddOptions options) const;
  Tensor pow(const Operand &exponent) const;
  Tensor atan2(const Operand &x) const;
  Tensor square() const;
  Tensor reciprocal() const;
  Tensor remainder(const Operand &other) const;
  Tensor fmod(const Operand &other) const;
  Tensor floor_divide(const Operand &other) const;
  Tensor logical_and(Tensor other) const;
  Tensor logical_or(Tensor other) const;
  Tensor logical_not() const;
  Tensor logical_xor(Tensor other) const;
  Tensor lerp(Tensor end, const Operand &weight) const;
  Tensor nan_to_num(double nan = 0, const detail::OptionalOperand &posinf = {},
                    const detail::OptionalOperand &neginf = {}) const;
  /// A bound that is a tensor broadcasts.
  Tensor clamp(const Operand &min,
               const detail::OptionalOperand &max = {}) const;
  Tensor clamp(const ClampOptions &options) const;
  Tensor clip(const Operand &min,
              const detail::OptionalOperand &max = {}) const;
  Tensor clamp_min(const Operand &min) const;
  Tensor clamp_max(const Operand &max) const;
  Tensor where(Tensor condition, const Operand &other) const;
  Tensor masked_fill(Tensor mask, const Operand &value) const;

  Tensor to(DType dtype) const;
  Tensor to(const char *device) const =
      delete ("dl: leave this out: where a plan runs is not part of the model");
  Tensor type_as(Tensor other) const { return to(other.dtype()); }
  Tensor detach() const;
  Tensor data() const { return detach(); }
  Tensor contiguous() const;
  /// Divided along axes of the mesh, an entry for each dim: {"dp", nullptr,
  /// "tp"}. See parallel.h.
  Tensor shard(list<const char *> axes) const;
  Tensor clone() const;

  Tensor sum() const;
  Tensor sum(const Dims &dims, bool keepdim = false) const;
  Tensor sum(const Dims &dims, ReduceOptions options) const {
    return sum(dims, options.keepdim);
  }
  Tensor mean() const;
  Tensor mean(const Dims &dims, bool keepdim = false) const;
  Tensor mean(const Dims &dims, ReduceOptions options) const {
    return mean(dims, options.keepdim);
  }
  Tensor amax(const Dims &dims = {}, bool keepdim = false) const;
  Tensor amax(const Dims &dims, ReduceOptions options) const {
    return amax(dims, options.keepdim);
  }
  Tensor amin(const Dims &dims = {}, bool keepdim = false) const;
  Tensor amin(const Dims &dims, ReduceOptions options) const {
    return amin(dims, options.keepdim);
  }
#define DL_EXTREMUM(max, argmax)                                               \
  Tensor max() const;                                                          \
  Tensor max(Tensor other) const;                                              \
  ValuesAndIndices max(i64 dim, bool keepdim = false) const;                   \
  ValuesAndIndices max(i64 dim, ReduceOptions options) const;                  \
  Tensor argmax() const;                                                       \
  Tensor argmax(i64 dim, bool keepdim = false) const;                          \
  Tensor argmax(i64 dim, ReduceOptions options) const {                        \
    return argmax(dim, options.keepdim);                                       \
  }
  DL_EXTREMUM(max, argmax)
  DL_EXTREMUM(min, argmin)
#undef DL_EXTREMUM
#define DL_SPREAD(var)                                                         \
  Tensor var() const;                                                          \
  template <detail::Bool T> Tensor var(T unbiased) const;                      \
  Tensor var(const Dims &dims, bool unbiased = true, bool keepdim = false)     \
      const;                                                                   \
  Tensor var(const Dims &dims, VarOptions options) const;
  DL_SPREAD(var)
  DL_SPREAD(std)
#undef DL_SPREAD
  /// (sum |x|^p)^(1/p); p may be infinite, or minus infinity.
  Tensor norm(double p = 2) const;
  Tensor norm(double p, const Dims &dims, bool keepdim = false) const;
  Tensor norm(double p, const Dims &dims, ReduceOptions options) const {
    return norm(p, dims, options.keepdim);
  }
  Tensor norm(NormOptions o) const { return norm(o.p.p, o.dim, o.keepdim); }
  Tensor any() const;
  Tensor any(const Dims &dims, bool keepdim = false) const;
  Tensor all() const;
  Tensor all(const Dims &dims, bool keepdim = false) const;
  Tensor logsumexp(const Dims &dims, bool keepdim = false) const;
  Tensor logsumexp(const Dims &dims, ReduceOptions options) const {
    return logsumexp(dims, options.keepdim);
  }
  Tensor softmax(i64 dim) const;
  Tensor log_softmax(i64 dim) const;

  Tensor view(const Shape &shape) const;
  Tensor reshape(const Shape &shape) const;
  Tensor expand(const Shape &shape) const;
  Tensor permute(const Dims &order) const;
  template <detail::Count N, class... I> Tensor view(N n, I... rest) const {
    return view(Shape{static_cast<i64>(n), rest...});
  }
  template <detail::Count N, class... I> Tensor reshape(N n, I... rest) const {
    return reshape(Shape{static_cast<i64>(n), rest...});
  }
  template <detail::Count N, class... I> Tensor expand(N n, I... rest) const {
    return expand(Shape{static_cast<i64>(n), rest...});
  }
  Tensor view_as(Tensor other) const;
  Tensor expand_as(Tensor other) const;
  Tensor transpose(i64 dim0, i64 dim1) const;
  Tensor t() const;
  Tensor squeeze() const;
  Tensor squeeze(const Dims &dims) const;
  Tensor unsqueeze(i64 dim) const;
  Tensor flatten(i64 start_dim = 0, i64 end_dim = -1) const;
  Tensor unflatten(i64 dim, const Shape &sizes) const;
  /// Copies of the tensor, so many along each dim.
  Tensor repeat(const Shape &repeats) const;
  template <detail::Count N, class... I> Tensor repeat(N n, I... rest) const {
    return repeat(Shape{static_cast<i64>(n), rest...});
  }
  Tensor tile(const Shape &repeats) const;
  Tensor movedim(i64 source, i64 destination) const;
  Tensor movedim(const Dims &source, const Dims &destination) const;
  Tensor swapaxes(i64 a, i64 b) const { return transpose(a, b); }
  template <class... I> Tensor permute(i64 a, i64 b, I... rest) const {
    return permute(Dims{a, b, rest...});
  }

  /// Every step-th element of a dim, from start to before end.
  Tensor slice(i64 dim, i64 start = 0, i64 end = kEnd, i64 step = 1) const;
  Tensor narrow(i64 dim, i64 start, i64 length) const;
  Tensor select(i64 dim, i64 index) const;
  /// One index for each leading dim: a number, dl::Slice, dl::None, or
  /// dl::Ellipsis.
  Tensor index(list<Index> indices) const;
  template <class... I> Tensor operator[](const I &...indices) const {
    return index({Index(indices)...});
  }
  Tensor operator[](list<i64>) const = delete (
      "dl: rows of a list are x.index_select(0, dl::tensor({0, 1})); "
      "one element is x[0, 1]");
  TensorList chunk(i64 chunks, i64 dim = 0) const;
  TensorList split(i64 split_size, i64 dim = 0) const;
  TensorList split(const Shape &sizes, i64 dim = 0) const;
  TensorList unbind(i64 dim = 0) const;
  /// With names: auto [q, k, v] = x.chunk<3>(3, -1); see lists.h.
  template <int N> Tensors<N> chunk(i64 chunks, i64 dim = 0) const;
  template <int N> Tensors<N> split(i64 split_size, i64 dim = 0) const;
  template <int N> Tensors<N> split(const Shape &sizes, i64 dim = 0) const;
  template <int N> Tensors<N> unbind(i64 dim = 0) const;

  // By indices that are data, see gather.h.
  Tensor gather(i64 dim, Tensor index) const;
  Tensor index_select(i64 dim, Tensor index) const;
  // See scatter.h.
  Tensor scatter(i64 dim, Tensor index, Tensor src) const;
  Tensor scatter(i64 dim, Tensor index, const Operand &value) const;
  Tensor scatter_add(i64 dim, Tensor index, Tensor src) const;
  Tensor index_add(i64 dim, Tensor index, Tensor source,
                   IndexAddOptions options = {}) const;

  // In another order, see order.h.
  Tensor cumsum(i64 dim) const;
  Tensor cumprod(i64 dim) const;
  ValuesAndIndices sort(i64 dim = -1, bool descending = false) const;
  ValuesAndIndices sort(SortOptions options) const;
  Tensor argsort(i64 dim = -1, bool descending = false) const;
  Tensor argsort(SortOptions options) const;
  ValuesAndIndices topk(i64 k, i64 dim = -1, bool largest = true,
                        bool sorted = true) const;
  ValuesAndIndices topk(i64 k, TopkOptions options) const;
  Tensor flip(const Dims &dims) const;
  template <class... I> Tensor flip(i64 a, i64 b, I... rest) const {
    return flip(Dims{a, b, rest...});
  }
  Tensor roll(const Dims &shifts) const;
  Tensor roll(const Dims &shifts, const Dims &dims) const;
  Tensor repeat_interleave(i64 repeats) const;
  Tensor repeat_interleave(i64 repeats, i64 dim) const;
  Tensor tril(i64 diagonal = 0) const;
  Tensor triu(i64 diagonal = 0) const;
  Tensor prod() const;
  Tensor prod(i64 dim, bool keepdim = false) const;
  Tensor prod(i64 dim, ReduceOptions options) const {
    return prod(dim, options.keepdim);
  }

  // See diagonals.h.
  Tensor diagonal(i64 offset = 0, i64 dim1 = 0, i64 dim2 = 1) const;
  Tensor diag(i64 diagonal = 0) const;
  Tensor diag_embed(i64 offset = 0, i64 dim1 = -2, i64 dim2 = -1) const;
  Tensor trace() const;

  Tensor matmul(Tensor other) const;
  Tensor mm(Tensor other) const;
  Tensor bmm(Tensor other) const;
  Tensor dot(Tensor other) const;
  Tensor outer(Tensor other) const;

  /// Makes the gradients of all parameters this scalar depends on.
  void backward(BackwardOptions options = {}) const {
    if (options.create_graph)
      detail::unsupported(
          "backward: create_graph = true: not in this version; "
          "dl::autograd::grad(loss, inputs, {.create_graph = true}) gives "
          "gradients that have some");
    dl_backward(id);
  }
  /// Of the sum of its elements, each times that of `gradient`.
  void backward(const Tensor &gradient) const;
  /// Of a parameter; of other tensors true changes nothing, for autograd::grad
  /// takes any.
  Tensor requires_grad_(bool value = true) const;
  /// The gradient of a parameter, after backward(): a constant to losses that
  /// use it.
  Tensor grad() const;

  explicit operator bool() const = delete (
      "dl: a tensor has no value while the graph is being built; "
      "choose with dl::where(condition, a, b); whether there is one, as is "
      "not None asks, says x.defined()");
  double item() const = delete (
      "dl: a tensor has no value while the graph is being built; to see it "
      "return it in dl::Metrics; in a loss x.detach() is a constant");

  DL_COMPOSED_METHODS
  DL_IN_PLACE_METHODS
  DL_KEYWORD_METHODS
};

struct ValuesAndIndices {
  Tensor values, indices;
  Tensor operator[](int i) const { return i ? indices : values; }
  DL_TIED((values, indices), Tensor &, Tensor &)
};

} // namespace dl
