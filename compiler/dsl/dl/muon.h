#pragma once
// Muon (Jordan et al., "Muon: An optimizer for hidden layers in neural
// networks", 2024), as torch.optim.Muon of PyTorch 2.9, in the order of its
// operations: momentum whose singular values are all brought near 1. PyTorch
// does that in bf16, this in the type of the parameter.
#include "optimizers.h"

namespace dl::optim {

/// Of the polynomial a s + b s^3 + c s^5 that each step of Newton and Schulz's
/// iteration applies to the singular values.
struct NsCoefficients {
  double a = 3.4445, b = -4.7750, c = 2.0315;
};

struct MuonOptions {
  Scalar lr = 1e-3, weight_decay = 0.1, momentum = 0.95;
  bool nesterov = true;
  NsCoefficients ns_coefficients{};
  double eps = 1e-7;
  i64 ns_steps = 5;
  /// "original": sqrt(max(1, rows / columns)) times lr; "match_rms_adamw":
  /// 0.2 sqrt(max(rows, columns)) (Liu et al., "Muon is Scalable for LLM
  /// Training", 2025); "spectral_unclamped": sqrt(rows / columns).
  const char *adjust_lr_fn = "original";
  static constexpr bool maximize = false;

  template <class F> void numbers(F f) {
    f("lr", lr), f("weight_decay", weight_decay), f("momentum", momentum);
  }
  void check() const {
    detail::require_numbers("Muon", *this);
    detail::require_not_negative("Muon", "eps", eps);
    if (ns_steps < 1 || ns_steps >= 100)
      detail::fail("Muon: ns_steps is {}, not in [1, 100)", ns_steps);
    if (!detail::equal(adjust_lr_fn, "original") &&
        !detail::equal(adjust_lr_fn, "match_rms_adamw") &&
        !detail::equal(adjust_lr_fn, "spectral_unclamped"))
      detail::fail("Muon: adjust_lr_fn is \"{}\"; \"original\", "
                   "\"match_rms_adamw\" and \"spectral_unclamped\" are known",
                   adjust_lr_fn);
  }
};
struct MuonGroup {
  Parameters params;
  detail::Given<Scalar> lr{}, weight_decay{}, momentum{};
  detail::Given<bool> nesterov{};
  detail::Given<NsCoefficients> ns_coefficients{};
  detail::Given<double> eps{};
  detail::Given<i64> ns_steps{};
  detail::Given<const char *> adjust_lr_fn{};

  MuonOptions over(const MuonOptions &standard) const {
    return {lr.otherwise(standard.lr),
            weight_decay.otherwise(standard.weight_decay),
            momentum.otherwise(standard.momentum),
            nesterov.otherwise(standard.nesterov),
            ns_coefficients.otherwise(standard.ns_coefficients),
            eps.otherwise(standard.eps),
            ns_steps.otherwise(standard.ns_steps),
            adjust_lr_fn.otherwise(standard.adjust_lr_fn)};
  }
};

namespace detail {
/// Newton and Schulz's iteration, on the side that is shorter.
inline Tensor orthogonalized(const MuonOptions &o, const Tensor &matrix) {
  bool tall = matrix.size(0) > matrix.size(1);
  auto [a, b, c] = o.ns_coefficients;
  Tensor x = tall ? matrix.t() : matrix;
  x = x / x.norm().clamp_min(o.eps);
  for (i64 step = 0; step < o.ns_steps; ++step) {
    Tensor gram = x.matmul(x.t());
    Tensor update = gram * b + gram.matmul(gram) * c;
    x = x * a + update.matmul(x);
  }
  return tall ? x.t() : x;
}
/// By what the learning rate grows with the matrix.
inline double muon_ratio(const MuonOptions &o, const Tensor &matrix) {
  double rows = static_cast<double>(matrix.size(0));
  double columns = static_cast<double>(matrix.size(1));
  if (equal(o.adjust_lr_fn, "match_rms_adamw"))
    return 0.2 * __builtin_sqrt(rows > columns ? rows : columns);
  bool clamped = equal(o.adjust_lr_fn, "original") && rows < columns;
  return clamped ? 1 : __builtin_sqrt(rows / columns);
}
} // namespace detail

/// For matrices; what else there is, and embeddings and heads, are for AdamW.
class Muon : public Optimizer<MuonOptions, MuonGroup> {
public:
  using Optimizer::Optimizer;

  void step() override {
    step_parameters([](const MuonOptions &o, const detail::Updated &p) {
      if (p.parameter.dim() != 2)
        detail::fail("Muon: a parameter is {}; Muon is for matrices, give "
                     "others to AdamW",
                     p.parameter.sizes());
      Tensor update =
          detail::averaged(p, "momentum_buffer", o.momentum, p.gradient);
      if (o.nesterov)
        update = detail::average(p.gradient, 1 - o.momentum, update);
      update = detail::orthogonalized(o, update);
      Tensor kept = o.weight_decay.is_none()
                        ? p.parameter
                        : p.parameter * (1 - o.lr * o.weight_decay);
      p.become(kept - update * (o.lr * detail::muon_ratio(o, p.parameter)));
    });
  }
};

} // namespace dl::optim
