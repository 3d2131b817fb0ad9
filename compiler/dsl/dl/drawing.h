#pragma once
// Random numbers whose distribution is data.
#include "bins.h"
#include "create.h"
#include "in_place.h"
#include "order.h"

namespace dl {

/// num_samples indices for each row of weights, which need not add up to 1;
/// without replacement as the largest of log(p) + Gumbel's noise (Vieira,
/// "Gumbel-max trick and weighted reservoir sampling", 2014). A step whose
/// weights leave too little to choose fails.
inline Tensor Tensor::multinomial(i64 num_samples, bool replacement) const {
  detail::Called called("multinomial");
  if (dim() < 1 || dim() > 2 || num_samples < 1 ||
      (!replacement && num_samples > size(-1)))
    detail::fail("multinomial: {} of {}{}; weights [n] or [rows, n] are wanted",
                 num_samples, sizes(),
                 replacement ? "" : " without replacement");
  Tensor weights = detach();
  if (!replacement) {
    Tensor noise = rand_like(weights).log().neg().log().neg();
    auto [values, indices] = (weights.log() + noise).topk(num_samples);
    const dl_text texts[] = {detail::Text(num_samples)};
    detail::flag_indices(
        values.gt(-inf).logical_not().any(-1).to(kInt64).reshape(-1), 1,
        "multinomial: fewer than {} weights above 0", texts, 1);
    return indices;
  }
  Tensor sums = weights.cumsum(-1), total = sums.narrow(-1, size(-1) - 1, 1);
  detail::flag_indices(total.gt(0).logical_not().to(kInt64).reshape(-1), 1,
                       "multinomial: no weight is above 0", nullptr, 0);
  Shape shape = sizes();
  shape[-1] = num_samples;
  return searchsorted(sums, rand(shape) * total, true).clamp_max(size(-1) - 1);
}
inline Tensor multinomial(Tensor weights, i64 num_samples,
                          bool replacement = false) {
  return weights.multinomial(num_samples, replacement);
}

/// By means and deviations, of which one may be a number.
inline Tensor normal(const Tensor &mean, const Tensor &std) {
  detail::Called called("normal");
  Shape shape =
      detail::common_shape("normal", "mean and std", mean.sizes(), std.sizes());
  return (randn(shape) * std + mean).detach();
}
inline Tensor normal(const Tensor &mean, double std = 1) {
  return normal(mean, full({}, std));
}
inline Tensor normal(double mean, const Tensor &std) {
  return normal(full({}, mean), std);
}
inline Tensor normal(double mean, double std, const Shape &size) {
  detail::Called called("normal");
  return randn(size) * std + mean;
}

inline Tensor Tensor::exponential_(double lambd) const {
  detail::Called called("exponential_");
  if (!(lambd > 0))
    detail::fail("exponential_: lambd = {}; a positive one is wanted", lambd);
  return detail::in_place("exponential_", *this,
                          rand_like(*this).neg().log1p() / -lambd);
}

} // namespace dl
