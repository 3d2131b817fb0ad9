#pragma once
// torch.nn.utils.rnn: sequences of different lengths in one batch.
#include "functional.h"
#include "gather.h"

namespace dl::nn::utils::rnn {

/// What recurrent layers take in place of a tensor: they leave a state as it is
/// where its sequence has ended, and begin backwards where it ends.
struct PackedSequence {
  Tensor data;    ///< [time, batch, features], padded
  Tensor lengths; ///< [batch], i64
};
/// auto [x, lengths] = pad_packed_sequence(packed);
struct PaddedSequence {
  Tensor data, lengths;
  DL_TIED((data, lengths), Tensor &, Tensor &)
};

/// Sequences need no order, whatever is asked for.
struct PackOptions {
  bool batch_first = false, enforce_sorted = true;
};
struct PadPackedOptions {
  bool batch_first = false;
  double padding_value = 0;
  i64 total_length = 0; ///< that of what was packed, in any case
};
struct PadOptions {
  bool batch_first = false;
  double padding_value = 0;
};

/// input: [time, batch, features], or [batch, time, features] with batch_first;
/// lengths: [batch], integers. A length that is not in 1 to time fails the
/// step.
inline PackedSequence pack_padded_sequence(Tensor input, Tensor lengths,
                                           PackOptions options = {}) {
  detail::Called called("pack_padded_sequence");
  if (input.dim() != 3)
    detail::fail("pack_padded_sequence: a batch of sequences with features, 3 "
                 "dims, is wanted, got {}",
                 input.sizes());
  Tensor data = options.batch_first ? input.transpose(0, 1) : input;
  if (lengths.dim() != 1 || lengths.size(0) != data.size(1))
    detail::fail("pack_padded_sequence: lengths {} for a batch of {}",
                 lengths.sizes(), data.size(1));
  Tensor counts = dl::detail::as_indices("pack_padded_sequence", lengths);
  const dl_text texts[] = {dl::detail::Text(data.size(0))};
  dl::detail::flag_indices(
      counts - 1, data.size(0),
      "pack_padded_sequence: a length is not between 1 and {}", texts, 1);
  return {data, counts};
}

/// As long as what was packed, however long the longest is.
inline PaddedSequence pad_packed_sequence(const PackedSequence &sequence,
                                          PadPackedOptions options = {}) {
  detail::Called called("pad_packed_sequence");
  Tensor data = sequence.data;
  if (options.total_length && options.total_length != data.size(0))
    detail::fail(
        "pad_packed_sequence: total_length = {} of sequences that were "
        "packed from {}",
        options.total_length, data.size(0));
  if (options.padding_value != 0) {
    Tensor time = arange(data.size(0)).reshape({data.size(0), 1, 1});
    data = data.masked_fill(sequence.lengths.reshape({1, -1, 1}).le(time),
                            options.padding_value);
  }
  return {options.batch_first ? data.transpose(0, 1) : data, sequence.lengths};
}

/// Tensors that differ in their first dim, in one, padded at their ends.
inline Tensor pad_sequence(const TensorList &sequences,
                           PadOptions options = {}) {
  detail::Called called("pad_sequence");
  i64 longest = 0;
  for (const Tensor &sequence : sequences)
    if (sequence.dim() == 0)
      detail::fail("pad_sequence: a tensor with dims is wanted");
    else if (sequence.size(0) > longest)
      longest = sequence.size(0);
  TensorList padded;
  for (const Tensor &sequence : sequences) {
    Shape missing = sequence.sizes();
    missing[0] = longest - missing[0];
    padded.push_back(
        missing[0]
            ? cat({sequence, full_like(sequence.narrow(0, 0, 1).expand(missing),
                                       options.padding_value)},
                  0)
            : sequence);
  }
  return stack(padded, options.batch_first ? 0 : 1);
}

} // namespace dl::nn::utils::rnn
