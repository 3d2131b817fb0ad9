#include "compiler/frontend/StridedView.h"

using namespace mlir;
using namespace dl::frontend;

StridedView StridedView::rowMajor(ArrayRef<int64_t> shape) {
  StridedView view;
  view.shape = shape.vec();
  view.strides.resize(shape.size());
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0; stride *= shape[d])
    view.strides[d] = stride;
  return view;
}

bool StridedView::isRowMajor() const {
  StridedView plain = rowMajor(shape);
  for (size_t d = 0; d < shape.size(); ++d)
    if (shape[d] != 1 && strides[d] != plain.strides[d])
      return false;
  return true;
}

bool StridedView::repeats() const {
  for (size_t d = 0; d < shape.size(); ++d)
    if (shape[d] != 1 && strides[d] == 0)
      return true;
  return false;
}

/// Neighbouring dims whose elements lie at equal distances are one run; the new
/// dims must cut each run into wholes.
std::optional<StridedView> StridedView::reshaped(ArrayRef<int64_t> to) const {
  StridedView view = rowMajor(to);
  view.offset = offset;
  size_t next = to.size();
  for (size_t d = shape.size(); d > 0;) {
    int64_t elements = shape[d - 1], distance = strides[d - 1], taken = 1;
    while (--d > 0 &&
           (shape[d - 1] == 1 || strides[d - 1] == elements * distance ||
            elements == 1)) {
      if (elements == 1)
        distance = strides[d - 1];
      elements *= shape[d - 1];
    }
    for (; next > 0 && (taken < elements || to[next - 1] == 1); --next) {
      view.strides[next - 1] = taken * distance;
      taken *= to[next - 1];
    }
    if (taken != elements)
      return std::nullopt;
  }
  return view;
}

std::optional<StridedView> StridedView::by(StringRef op,
                                           DictionaryAttr attributes) const {
  auto list = [&](StringRef name) {
    return attributes.getAs<DenseI64ArrayAttr>(name).asArrayRef();
  };
  if (op == "detach")
    return *this;
  if (op == "reshape")
    return reshaped(list("shape"));
  StridedView view = *this;
  if (op == "transpose") {
    for (auto [to, from] : llvm::enumerate(list("permutation"))) {
      view.shape[to] = shape[static_cast<size_t>(from)];
      view.strides[to] = strides[static_cast<size_t>(from)];
    }
    return view;
  }
  if (op == "slice") {
    for (size_t d = 0; d < shape.size(); ++d) {
      view.offset += list("offsets")[d] * strides[d];
      view.shape[d] = list("sizes")[d];
      view.strides[d] *= list("strides")[d];
    }
    return view;
  }
  if (op != "expand")
    return std::nullopt;
  view.shape = list("shape").vec();
  view.strides.assign(view.shape.size(), 0);
  size_t added = view.shape.size() - shape.size();
  for (size_t d = 0; d < shape.size(); ++d)
    if (shape[d] == view.shape[added + d])
      view.strides[added + d] = strides[d];
  return view;
}

std::vector<int64_t> StridedView::places() const {
  std::vector<int64_t> all = {offset};
  for (size_t d = 0; d < shape.size(); ++d) {
    std::vector<int64_t> further;
    further.reserve(all.size() * static_cast<size_t>(shape[d]));
    for (int64_t start : all)
      for (int64_t i = 0; i < shape[d]; ++i)
        further.push_back(start + i * strides[d]);
    all = std::move(further);
  }
  return all;
}
