// Plans made by hand.
#ifndef DLRT_TEST_TESTPLAN_H
#define DLRT_TEST_TESTPLAN_H

#include "runtime/device/Buffers.h"
#include "runtime/plan/PlanReader.h"
#include "runtime/plan/PlanWriter.h"
#include "test/runtime/TestFiles.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace dlrt::test {

/// A range of bytes for one member of a group, or from it.
struct MemberRange {
  uint32_t member;
  fb::Range range;
};

inline fb::Transfer toOne(uint32_t member, const fb::Range &range) {
  return {member, 1, range, /*same=*/false};
}

inline fb::ProgramT &firstProgram(fb::PlanT &plan) {
  return *plan.steps[0]->programs[0];
}

/// Adds parts to a plan and returns their indices.
class PlanBuilder {
public:
  PlanBuilder();

  /// Behind everything added so far, unless an offset is given.
  uint32_t arena(uint64_t bytes, const std::string &name = "");
  uint32_t arenaAt(uint64_t offset, uint64_t bytes);
  uint32_t input(uint64_t component, uint64_t bytes);
  uint32_t scalars();
  uint32_t kernel(const std::string &name, uint64_t tiles,
                  std::vector<uint64_t> bytes, std::vector<bool> writes);
  uint32_t state(const std::string &name, std::vector<uint64_t> shape,
                 fb::StateRole role = fb::StateRole::Parameter);
  uint32_t source(const std::string &op, const std::string &module,
                  const std::string &location);

  fb::Range whole(uint32_t buffer) const {
    return fb::Range(buffer, 0, plan.buffers[buffer]->bytes);
  }
  /// Binds whole buffers.
  void command(fb::ProgramT &program, uint32_t kernel,
               std::vector<uint32_t> buffers, std::vector<uint32_t> deps = {},
               bool serial = false) const;
  static void commandOn(fb::ProgramT &program, uint32_t kernel,
                        std::vector<fb::Range> ranges,
                        std::vector<uint32_t> deps = {}, bool serial = false);
  static void copy(fb::ProgramT &program, fb::Range from, fb::Range to,
                   std::vector<uint32_t> deps = {}, bool serial = false);
  static void exchange(fb::ProgramT &program, std::vector<uint32_t> axes,
                       uint64_t order, const std::vector<MemberRange> &sends,
                       const std::vector<MemberRange> &receives,
                       std::vector<uint32_t> deps = {});
  void axis(const std::string &name, uint32_t size);
  void metric(fb::ProgramT &program, const std::string &name, uint32_t buffer,
              std::vector<uint64_t> shape = {});

  uint32_t bufferOf(uint32_t state) const { return plan.states[state]->buffer; }

  fb::PlanT plan;
  Mesh mesh;
};

inline fb::LaunchT &launchOf(fb::CommandT &command) {
  return *command.work.AsLaunch();
}

/// Least squares on x.npy [items,3] and y.npy [items]: a training step in
/// batches of 4, items % 4 being 2 or 0, and an evaluation "test" of the loss.
/// With accumulate > 1, micro-batches and an update.
PlanBuilder regressionPlan(uint64_t items, uint32_t accumulate = 1);
/// Writes the data: y = x . (1, -2, 3).
void writeRegressionData(const TemporaryFolder &folder, uint64_t items);

/// One training step whose single program the test fills; its data set is one
/// f32 an item, batches of 4, four items.
PlanBuilder singleProgramPlan();

/// A plan's arena without a device.
class HostArena : public Buffers {
public:
  HostArena(const fb::PlanT &plan, uint64_t bytes) : plan(plan), arena(bytes) {}

  Status read(const BufferPlace &from, std::span<uint8_t> into) const override;
  Status write(const BufferPlace &to, std::span<const uint8_t> from) override;
  uint8_t *at(uint32_t buffer) {
    return arena.data() + plan.buffers[buffer]->offset;
  }

private:
  const fb::PlanT &plan;
  Bytes arena;
};

/// A copy of a plan for one rank.
PlanSet setOf(const fb::PlanT &plan);

/// The same plan for CUDA: kernels in blocks of 32 threads, everything in the
/// device's memory, and an image of sources, which `section` is to be.
void makeCuda(fb::PlanT &plan);
/// A table of one module, a text, with all of the plan's kernels.
Bytes moduleTable(const fb::PlanT &plan, std::string_view text);

/// The file, with the test kernels as its images.
Bytes seal(const fb::PlanT &plan);
/// With another section as its images.
Bytes seal(const fb::PlanT &plan, const Bytes &section);
/// The same for a mesh; what plans share is taken from the first.
Bytes seal(const Mesh &mesh, const std::vector<const fb::PlanT *> &plans);
/// The reader's verdict: empty for a good plan.
std::string verdict(const fb::PlanT &plan);
std::string verdict(const Bytes &file);
/// Of a plan that all ranks of its mesh run.
Bytes seal(PlanBuilder &builder);
Bytes seal(PlanBuilder &builder, const Bytes &section);
std::string verdict(PlanBuilder &builder);
LoadedPlan mustLoad(const Bytes &file);

} // namespace dlrt::test

#endif
