#pragma once
// The loss of sequences that are not aligned with their targets.
#include "margin_losses.h"

namespace dl::nn {

/// zero_infinity: 0 instead of infinity where a target does not fit.
struct CTCOptions {
  i64 blank = 0;
  const char *reduction = "mean";
  bool zero_infinity = false;
};

namespace functional {
namespace detail {

constexpr double kImpossible = -1e30; // log 0, but its differences are numbers

/// log(exp a + exp b + exp c)
inline Tensor log_add(const Tensor &a, const Tensor &b, const Tensor &c) {
  Tensor most = a.maximum(b).maximum(c).detach();
  return ((a - most).exp() + (b - most).exp() + (c - most).exp()).log() + most;
}
/// What stands `by` places before each.
inline Tensor before(const Tensor &x, i64 by) {
  return pad(x.narrow(1, 0, x.size(1) - by), {by, 0}, "constant", kImpossible);
}
} // namespace detail

/// Connectionist temporal classification (Graves et al. 2006, eq. 6 to 8, in
/// logarithms): log_probs [T, N, C], targets [N, S] without blanks, and how
/// many steps and labels of each item count, [N] each. The mean divides by the
/// number of labels first. The graph has some ops for each of the T steps.
inline Tensor ctc_loss(Tensor log_probs, Tensor targets, Tensor input_lengths,
                       Tensor target_lengths, const CTCOptions &options = {}) {
  detail::Called called("ctc_loss");
  Shape from = log_probs.sizes(), to = targets.sizes();
  if (from.rank != 3 || to.rank != 2 || to[0] != from[1])
    detail::fail("ctc_loss: log_probs [T, N, C] and targets [N, S] are wanted, "
                 "got {} and {}",
                 from, to);
  if (options.blank < 0 || options.blank >= from[2])
    detail::fail("ctc_loss: blank = {} is none of {} classes", options.blank,
                 from[2]);
  i64 items = from[1], states = 2 * to[1] + 1;
  Tensor labels = detail::class_indices("ctc_loss", targets);
  detail::flag_classes("ctc_loss", labels, from[2], -1);
  Tensor lengths = detail::class_indices("ctc_loss", target_lengths),
         steps = detail::class_indices("ctc_loss", input_lengths);
  // A blank before, between and behind the labels.
  Tensor blank = full({items, 1}, options.blank, kInt64);
  Tensor path =
      cat({stack({blank.expand(to), labels}, 2).reshape({items, states - 1}),
           blank},
          1);
  // From a label straight to the next one, if it is another.
  Tensor skips = path.ne(options.blank);
  if (states > 2)
    skips = skips.logical_and(
        cat({blank.expand({items, 2}), path.narrow(1, 0, states - 2)}, 1)
            .ne(path));
  Tensor alpha = where(arange(states).lt(2), log_probs[0].gather(1, path),
                       detail::kImpossible);
  for (i64 t = 1; t < from[0]; ++t) {
    Tensor two = states > 2 ? detail::before(alpha, 2) : alpha;
    Tensor next = detail::log_add(alpha, detail::before(alpha, 1),
                                  where(skips, two, detail::kImpossible)) +
                  log_probs[t].gather(1, path);
    alpha = where(steps.gt(t).unsqueeze(1), next, alpha);
  }
  Tensor last = lengths.mul(2).unsqueeze(1), none = lengths.eq(0);
  Tensor in_blank = alpha.gather(1, last).squeeze(1);
  Tensor in_label = alpha.gather(1, last.sub(1).maximum(0)).squeeze(1);
  in_label = where(none, detail::kImpossible, in_label);
  Tensor nothing = full({}, detail::kImpossible, kFloat);
  Tensor value = -detail::log_add(in_blank, in_label, nothing);
  value = where(value > -detail::kImpossible / 2,
                options.zero_infinity ? 0.0 : __builtin_inf(), value);
  if (detail::equal(options.reduction, "mean"))
    value = value / lengths.maximum(1).to(kFloat);
  return detail::reduce("ctc_loss", value, options.reduction);
}

} // namespace functional
} // namespace dl::nn
