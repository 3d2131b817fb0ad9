// What is said of a good plan after one change.
#ifndef DLRT_TEST_PLANREFUSALS_H
#define DLRT_TEST_PLANREFUSALS_H

#include "test/runtime/TestPlan.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace dlrt::test {

/// The verdict on the regression plan after one change.
inline std::string after(const std::function<void(fb::PlanT &)> &change) {
  PlanBuilder b = regressionPlan(10, 2);
  change(b.plan);
  return verdict(b.plan);
}

inline void expectRefusal(const std::function<void(fb::PlanT &)> &change,
                          const std::string &part) {
  std::string message = after(change);
  EXPECT_NE(message.find(part), std::string::npos)
      << "got '" << message << "', expected '" << part << "'";
}

} // namespace dlrt::test

#endif
