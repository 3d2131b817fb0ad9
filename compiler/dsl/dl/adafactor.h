#pragma once
// Adafactor (Shazeer and Stern, "Adafactor: Adaptive Learning Rates with
// Sublinear Memory Cost", 2018), as torch.optim.Adafactor, with the names of
// its state: of a matrix it keeps the mean squares of rows and of columns
// alone.
#include "optimizers.h"

namespace dl::optim {

/// Below the mean squares, by default finfo(dtype).eps; and of the root of the
/// mean square of a parameter, by which the learning rate is multiplied.
struct AdafactorEps {
  double first = dl_float_is_double() ? 0x1p-52 : 0x1p-23, second = 1e-3;
};

struct AdafactorOptions {
  Scalar lr = 1e-2;
  /// The share of a new square at update t is t to this power.
  double beta2_decay = -0.8;
  AdafactorEps eps{};
  double d = 1.0; ///< where the root of an update's mean square is clipped
  Scalar weight_decay = 0;
  bool maximize = false;

  template <class F> void numbers(F f) {
    f("lr", lr), f("weight_decay", weight_decay);
  }
  void check() const {
    detail::require_numbers("Adafactor", *this);
    detail::require_not_negative("Adafactor", "eps.first", eps.first);
    detail::require_not_negative("Adafactor", "eps.second", eps.second);
    if (!(beta2_decay <= 0))
      detail::fail("Adafactor: beta2_decay is {}, which is above 0",
                   beta2_decay);
    if (!(d >= 1))
      detail::fail("Adafactor: d is {}, which is below 1", d);
  }
};
struct AdafactorGroup {
  Parameters params;
  detail::Given<Scalar> lr{};
  detail::Given<double> beta2_decay{};
  detail::Given<AdafactorEps> eps{};
  detail::Given<double> d{};
  detail::Given<Scalar> weight_decay{};
  detail::Given<bool> maximize{};

  AdafactorOptions over(const AdafactorOptions &standard) const {
    return {lr.otherwise(standard.lr),
            beta2_decay.otherwise(standard.beta2_decay),
            eps.otherwise(standard.eps),
            d.otherwise(standard.d),
            weight_decay.otherwise(standard.weight_decay),
            maximize.otherwise(standard.maximize)};
  }
};

namespace detail {
/// The root of the mean square.
inline Tensor root_mean_square(const Tensor &x) {
  return x.norm() / __builtin_sqrt(static_cast<double>(x.numel()));
}
/// What the mean squares so far say of each element's.
inline Tensor factored_squares(const AdafactorOptions &o, const Updated &p,
                               const Scalar &share) {
  Tensor square = p.gradient.square();
  if (square.dim() < 2)
    return p.keep("variance", average(p.slot("variance"), 1 - share, square));
  Shape rows = square.sizes(), columns = rows;
  rows.dims[rows.rank - 1] = columns.dims[rows.rank - 2] = 1;
  Tensor row = p.keep("row_var", average(p.slot("row_var", rows), 1 - share,
                                         square.mean(-1, true)));
  Tensor column = p.keep("col_var", average(p.slot("col_var", columns),
                                            1 - share, square.mean(-2, true)));
  return row * column / row.mean(-2, true).clamp_min(o.eps.first);
}
} // namespace detail

class Adafactor : public Optimizer<AdafactorOptions, AdafactorGroup> {
public:
  using Optimizer::Optimizer;

  void step() override {
    step_parameters([](const AdafactorOptions &o, const detail::Updated &p) {
      Scalar count = p.count();
      Tensor size =
          detail::root_mean_square(p.parameter).clamp_min(o.eps.second);
      Tensor rate = size * minimum(o.lr, 1 / sqrt(count));
      Tensor squares =
          detail::factored_squares(o, p, pow(count, o.beta2_decay));
      Tensor update =
          squares.clamp_min(o.eps.first * o.eps.first).rsqrt() * p.gradient;
      Tensor clip = (detail::root_mean_square(update) / o.d).clamp_min(1);
      Tensor kept = o.weight_decay.is_none()
                        ? p.parameter
                        : p.parameter * (1 - o.lr * o.weight_decay);
      p.become(kept - update * (rate / clip));
    });
  }
};

} // namespace dl::optim
