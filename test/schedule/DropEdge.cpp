// drop_edge PLAN OUT STEP PROGRAM COMMAND DEP: the plan without one edge,
// sealed anew. Nothing is checked: the loader is what is tested.
#include "runtime/plan/Container.h"
#include "runtime/plan/PlanWriter.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

using namespace dlrt;

static int fail(const char *what) {
  std::fprintf(stderr, "dl_drop_edge: %s\n", what);
  return 2;
}

int main(int argc, char **argv) {
  if (argc != 7)
    return fail("usage: dl_drop_edge PLAN OUT STEP PROGRAM COMMAND DEP");
  std::ifstream in(argv[1], std::ios::binary);
  std::vector<char> file((std::istreambuf_iterator<char>(in)), {});
  auto sections = readContainer(
      {reinterpret_cast<const uint8_t *>(file.data()), file.size()});
  if (!sections || sections->empty())
    return fail("this is no plan");
  fb::PlanFileT unpacked;
  fb::GetPlanFile((*sections)[0].bytes.data())->UnPackTo(&unpacked);
  if (unpacked.plans.size() != 1)
    return fail("it is for several ranks");
  fb::PlanT &plan = *unpacked.plans[0];

  size_t number[4];
  for (int i = 0; i < 4; ++i)
    number[i] = std::strtoul(argv[3 + i], nullptr, 10);
  auto [stepIndex, programIndex, commandIndex, dep] = number;
  if (stepIndex >= plan.steps.size())
    return fail("there is no such step");
  fb::StepT &step = *plan.steps[stepIndex];
  if (programIndex >= step.programs.size())
    return fail("there is no such program");
  fb::ProgramT &program = *step.programs[programIndex];
  if (commandIndex >= program.commands.size() ||
      std::erase(program.commands[commandIndex]->deps, dep) != 1)
    return fail("there is no such edge");

  std::vector<SectionView> images(sections->begin() + 1, sections->end());
  Status status = writePlan(argv[2], packPlan(plan), images);
  return status.ok() ? 0 : fail("cannot write the plan");
}
