#pragma once
// What the tensors of a .dl are to the compiler, and what states begin with.
#include "compiler/frontend/Reporter.h"
#include "compiler/frontend/StridedView.h"
#include "dialects/graph/Graph.h"
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace dl::frontend {

/// By the number of the element.
using KnownValues = std::map<int64_t, double>;

struct Distribution {
  int kind; // dl_initial_kind
  double a, b, low = 0, high = 0;
};
/// A part of a parameter that begins otherwise, in the order of the view.
struct InitialPart {
  StridedView view;
  Distribution begins;
  /// The whole's random numbers, of these places; or else the view's own, by
  /// the parameter and which of its changes this was.
  bool whole = false;
  int drawnBy = -1, ordinal = 0;
};
/// What a parameter starts from: a distribution, but for parts, of which the
/// later ones count, and for the elements that are known.
struct Initial : Distribution {
  std::shared_ptr<KnownValues> known = {}; // copied where others have it, too
  std::vector<InitialPart> parts = {};
  int draw = -1; // of a tensor of random numbers, wherever those go
  /// The value that it begins with, made of these and others: see InitialStep.h
  mlir::Value computed = {};
};
/// Runs of neighbours, [first, count, values]: a value for each element, or one
/// for all.
struct InitialRuns {
  std::vector<int64_t> runs;
  std::vector<double> values;
};
InitialRuns runsOf(const KnownValues &known);
/// Times a number, and one added; false where no such distribution is known.
bool scale(Distribution &distribution, double scale, double shift);

/// What a parameter began with when it was cloned outside of steps.
struct InitialCopy {
  int of, seen; // of its changes
  Initial initial;
};

/// What a parameter or a part of it begins with, times a number and one added.
struct ScaledPart {
  int from; // the handle
  int of;
  StridedView view;
  int seen; // of its changes
  double scale, shift;
};

/// What a handle of the .dl stands for: a value of a step, or one computed
/// outside of steps (trace -1), a parameter or buffer or, outside of steps, a
/// part or a copy of one; initial values made outside of steps, or a setting.
struct Handle {
  mlir::RankedTensorType type;
  mlir::Value value;
  int trace = -1;
  int parameter = -1;
  std::optional<Initial> initial;
  dl::graph::SettingAttr setting = {};

  // InPlace.cpp: counted in ops in place; the tensor that it is a view of, by
  // which op (none: all of it), and the version of it that was seen.
  unsigned version = 0, seen = 0;
  int viewOf = -1;
  mlir::Operation *viewOp = nullptr;
  std::optional<StridedView> view; // none: in order, in memory of its own
  int partOf = -1;                 // outside of steps, of a state,
  int partFrom = -1;               // by viewOp of this handle
  std::optional<InitialCopy> copied;
  std::optional<ScaledPart> scaled;
  bool isGradient = false;
  bool isConstant = false;   // to losses: its value is of a dl::NoGradGuard
  int gradientOf = -1;       // the handle of a parameter
  bool isCopyOfPart = false; // by indices that are tensors
  bool isCopyOfView = false; // of what PyTorch has a view of

  StridedView strided() const {
    return view ? *view : StridedView::rowMajor(type.getShape());
  }
};

struct Parameter {
  mlir::RankedTensorType type;
  Initial initial;
  std::vector<Frame> made;
  bool requiresGrad = true;
  bool isBuffer = false;
  int changes = 0; // of what it begins with
};

} // namespace dl::frontend
