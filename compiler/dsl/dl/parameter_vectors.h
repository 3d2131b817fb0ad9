#pragma once
// torch.nn.utils: all parameters as one vector.
#include "in_place.h"
#include "parameter_groups.h"

namespace dl::nn::utils {

inline Tensor parameters_to_vector(const optim::Parameters &parameters) {
  detail::Called called("parameters_to_vector");
  TensorList parts;
  for (const Parameter &parameter : parameters)
    parts.push_back(parameter.reshape(-1));
  return cat(parts);
}
/// Each parameter becomes its part of the vector.
inline void vector_to_parameters(const Tensor &vector,
                                 const optim::Parameters &parameters) {
  detail::Called called("vector_to_parameters");
  i64 count = 0, at = 0;
  for (const Parameter &parameter : parameters)
    count += parameter.numel();
  if (vector.sizes() != Shape{count})
    detail::fail("vector_to_parameters: a vector {} for {} numbers",
                 vector.sizes(), count);
  for (const Parameter &parameter : parameters) {
    i64 size = parameter.numel();
    parameter.data().copy_(
        vector.detach().narrow(0, at, size).view(parameter.sizes()));
    at += size;
  }
}

} // namespace dl::nn::utils
