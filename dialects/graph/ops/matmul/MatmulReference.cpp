#include "dialects/graph/Reference.h"
#include "dialects/graph/ops/matmul/MatmulSpec.h"

using namespace mlir;
using namespace dl::graph;

/// Where the element with these indices of the named dims lies; dims without a
/// name there have one element.
static int64_t offsetOf(StringRef names, ArrayRef<int64_t> at, StringRef labels,
                        ArrayRef<int64_t> shape) {
  int64_t offset = 0;
  for (auto [label, size] : llvm::zip(labels, shape)) {
    size_t name = names.find(label);
    offset = offset * size + (name == StringRef::npos ? 0 : at[name]);
  }
  return offset;
}

HostTensors MatmulOp::evaluate(ArrayRef<HostTensor> x) {
  HostTensor result(getType());
  MatmulSpec spec = *MatmulSpec::parse(getSpec());
  std::string summed = spec.summed();
  SmallVector<int64_t> extents;
  for (char label : summed)
    extents.push_back(x[0].shape()[spec.a.find(label)]);
  // An element lies at the sum of what rows, columns and batches say and what
  // the summed dims say.
  std::vector<std::pair<int64_t, int64_t>> terms;
  forEachElement(extents, [&](int64_t, auto at) {
    terms.emplace_back(offsetOf(summed, at, spec.a, x[0].shape()),
                       offsetOf(summed, at, spec.b, x[1].shape()));
  });
  forEachElement(result.shape(), [&](int64_t i, auto at) {
    const double *a =
        x[0].floats.data() + offsetOf(spec.result, at, spec.a, x[0].shape());
    const double *b =
        x[1].floats.data() + offsetOf(spec.result, at, spec.b, x[1].shape());
    double sum = 0;
    for (auto [inA, inB] : terms)
      sum += a[inA] * b[inB];
    result.floats[i] = sum;
  });
  return {result};
}
