// Functions on graphs and on the capture of streams.
#include "test/device/Driver.h"

#include <chrono>
#include <cstring>
#include <utility>

using namespace emulated;

static double now() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

static Result add(NodeT **node, GraphT *graph, NodeT *const *after,
                  size_t count, std::function<Result()> run) {
  if (!graph || !node || (count && !after))
    return InvalidValue;
  for (size_t i = 0; i < count; ++i) {
    bool ours = false;
    for (auto &other : graph->nodes)
      ours |= other.get() == after[i];
    if (!ours)
      return InvalidValue;
  }
  auto made = std::make_unique<NodeT>();
  made->run = std::move(run);
  made->after.assign(after, after + count);
  *node = made.get();
  graph->nodes.push_back(std::move(made));
  return Success;
}

DLEMU_FUNCTION cuGraphCreate(GraphT **graph, unsigned) {
  DLEMU_ENTER(cuGraphCreate);
  *graph = new GraphT;
  return Success;
}

DLEMU_FUNCTION cuGraphDestroy(GraphT *graph) {
  DLEMU_ENTER(cuGraphDestroy);
  delete graph;
  return Success;
}

DLEMU_FUNCTION cuGraphAddKernelNode_v2(NodeT **node, GraphT *graph,
                                       NodeT *const *after, size_t count,
                                       const KernelNodeParams *p) {
  DLEMU_ENTER(cuGraphAddKernelNode_v2);
  dlsimt::Index3 grid = {p->gridX, p->gridY, p->gridZ},
                 block = {p->blockX, p->blockY, p->blockZ};
  if (p->extra)
    return NotSupported;
  if (Result result = driver().checkLaunch(p->function, grid, block,
                                           p->sharedBytes, p->arguments))
    return result;
  return add(
      node, graph, after, count,
      driver().launch(p->function, grid, block, p->sharedBytes, p->arguments));
}

/// The address of a side of a copy; null if it is not what its type says.
static void *sideOf(const CopySide &side, size_t bytes) {
  if (side.y || side.z || side.levelOfDetail || side.reserved)
    return nullptr;
  if (side.type == HostMemory)
    return static_cast<char *>(side.host) + side.x;
  DevicePointer at = side.device + side.x;
  bool known = driver().memory.holds(at, bytes) ||
               (side.type == UnifiedMemory &&
                driver().memory.hostHolds(reinterpret_cast<void *>(at), bytes));
  return known ? reinterpret_cast<void *>(at) : nullptr;
}

/// Of one row: nothing else is emulated.
DLEMU_FUNCTION cuGraphAddMemcpyNode(NodeT **node, GraphT *graph,
                                    NodeT *const *after, size_t count,
                                    const CopyParams *p, ContextT *context) {
  DLEMU_ENTER(cuGraphAddMemcpyNode);
  if (context != &driver().context)
    return InvalidContext;
  void *to = sideOf(p->to, p->width), *from = sideOf(p->from, p->width);
  if (!to || !from || !p->width || p->height != 1 || p->depth != 1)
    return InvalidValue;
  return add(node, graph, after, count, driver().copy(to, from, p->width));
}

DLEMU_FUNCTION cuGraphAddMemsetNode(NodeT **node, GraphT *graph,
                                    NodeT *const *after, size_t count,
                                    const MemsetNodeParams *p,
                                    ContextT *context) {
  DLEMU_ENTER(cuGraphAddMemsetNode);
  if (context != &driver().context)
    return InvalidContext;
  bool good =
      (p->elementBytes == 1 || p->elementBytes == 2 || p->elementBytes == 4) &&
      p->width && p->height == 1 && p->to % p->elementBytes == 0 &&
      driver().memory.holds(p->to, p->width * p->elementBytes);
  return good ? add(node, graph, after, count,
                    driver().fill(p->to, p->value, p->elementBytes, p->width))
              : InvalidValue;
}

DLEMU_FUNCTION cuGraphAddEmptyNode(NodeT **node, GraphT *graph,
                                   NodeT *const *after, size_t count) {
  DLEMU_ENTER(cuGraphAddEmptyNode);
  return add(node, graph, after, count, nullptr);
}

DLEMU_FUNCTION cuGraphAddHostNode(NodeT **node, GraphT *graph,
                                  NodeT *const *after, size_t count,
                                  const HostNodeParams *p) {
  DLEMU_ENTER(cuGraphAddHostNode);
  HostNodeParams call = *p;
  return add(node, graph, after, count, [call] {
    call.function(call.data);
    return Success;
  });
}

DLEMU_FUNCTION cuGraphAddEventRecordNode(NodeT **node, GraphT *graph,
                                         NodeT *const *after, size_t count,
                                         EventT *event) {
  DLEMU_ENTER(cuGraphAddEventRecordNode);
  Result result = add(node, graph, after, count, [event] {
    event->seconds = now();
    return Success;
  });
  if (!result)
    (*node)->records = event;
  return result;
}

DLEMU_FUNCTION cuGraphAddEventWaitNode(NodeT **node, GraphT *graph,
                                       NodeT *const *after, size_t count,
                                       EventT *event) {
  DLEMU_ENTER(cuGraphAddEventWaitNode);
  Result result = add(node, graph, after, count, nullptr);
  if (!result)
    (*node)->waits = event;
  return result;
}

/// Copied as it is now; nodes come in the order in which they were added.
DLEMU_FUNCTION cuGraphAddChildGraphNode(NodeT **node, GraphT *graph,
                                        NodeT *const *after, size_t count,
                                        GraphT *child) {
  DLEMU_ENTER(cuGraphAddChildGraphNode);
  std::map<NodeT *, NodeT *> copies;
  std::vector<NodeT *> all;
  size_t nodes = child->nodes.size();
  for (size_t i = 0; i < nodes; ++i) {
    NodeT *original = child->nodes[i].get();
    std::vector<NodeT *> before;
    for (NodeT *other : original->after)
      before.push_back(copies.at(other));
    if (before.empty())
      before.assign(after, after + count);
    NodeT *made = nullptr;
    if (Result result =
            add(&made, graph, before.data(), before.size(), original->run))
      return result;
    made->records = original->records;
    made->waits = original->waits;
    copies[original] = made;
    all.push_back(made);
  }
  if (all.empty())
    all.assign(after, after + count);
  return add(node, graph, all.data(), all.size(), nullptr);
}

DLEMU_FUNCTION cuGraphInstantiateWithFlags(ExecT **exec, GraphT *graph,
                                           unsigned long long) {
  DLEMU_ENTER(cuGraphInstantiateWithFlags);
  auto made = std::make_unique<ExecT>();
  std::map<NodeT *, size_t> places;
  for (auto &node : graph->nodes) {
    std::vector<size_t> after;
    for (NodeT *other : node->after)
      after.push_back(places.at(other));
    places[node.get()] = made->steps.size();
    made->steps.push_back(
        {node->run, std::move(after), node->records, node->waits});
  }
  *exec = made.release();
  return Success;
}

DLEMU_FUNCTION cuGraphUpload(ExecT *, StreamT *) {
  DLEMU_ENTER(cuGraphUpload);
  return Success;
}

DLEMU_FUNCTION cuGraphLaunch(ExecT *exec, StreamT *stream) {
  DLEMU_ENTER(cuGraphLaunch);
  StreamT &of = driver().stream(stream);
  if (of.capture)
    return NotSupported;
  std::vector<OperationRef> made, before = driver().before(of);
  before.push_back(exec->last);
  for (ExecT::Step &step : exec->steps) {
    std::vector<OperationRef> after = before;
    for (size_t other : step.after)
      after.push_back(made[other]);
    if (step.waits)
      after.push_back(step.waits->operation);
    made.push_back(makeOperation(step.run, std::move(after)));
    if (step.records) {
      step.records->operation = made.back();
      step.records->queries = 0;
    }
  }
  made.insert(made.end(), before.begin(), before.end());
  exec->last = driver().append(of, makeOperation(nullptr, std::move(made)));
  return driver().lazy ? Success : driver().issued(of.last);
}

DLEMU_FUNCTION cuGraphExecDestroy(ExecT *exec) {
  DLEMU_ENTER(cuGraphExecDestroy);
  delete exec;
  return Success;
}

DLEMU_FUNCTION cuStreamBeginCapture_v2(StreamT *stream, int) {
  DLEMU_ENTER(cuStreamBeginCapture_v2);
  if (!stream || stream->capture)
    return CaptureUnsupported;
  stream->capture = new GraphT;
  stream->captureBegan = true;
  stream->front.clear();
  return Success;
}

static void visit(NodeT *node, std::set<NodeT *> &seen) {
  if (seen.insert(node).second)
    for (NodeT *before : node->after)
      visit(before, seen);
}

DLEMU_FUNCTION cuStreamEndCapture(StreamT *stream, GraphT **graph) {
  std::lock_guard<std::recursive_mutex> lock(driver().mutex);
  Result refused = driver().enter("cuStreamEndCapture");
  if (!stream->capture || !stream->captureBegan)
    return InvalidValue;
  *graph = stream->capture;
  std::set<NodeT *> joined;
  for (NodeT *node : stream->front)
    visit(node, joined);
  for (StreamT *other : driver().streams)
    if (other->capture == *graph)
      other->capture = nullptr;
  stream->captureBegan = false;
  if (refused) { // there is nothing to be had of it any more
    delete std::exchange(*graph, nullptr);
    return refused;
  }
  return joined.size() == (*graph)->nodes.size() ? Success : CaptureUnjoined;
}
