#include "runtime/device/cuda/Graph.h"

using namespace dlrt;
using namespace dlrt::cuda;

namespace {

class GraphBuilder {
public:
  GraphBuilder(const Driver &cuda, Context context, Stream stream)
      : cuda(cuda), context(context), stream(stream) {}
  GraphBuilder(const GraphBuilder &) = delete;
  ~GraphBuilder() {
    if (graph)
      cuda.graphDestroy(graph);
  }

  Status build(const BoundProgram &program) {
    DLRT_TRY(cuda.check(cuda.graphCreate(&graph, 0), "making a graph"));
    if (const auto &batch = program.batch)
      DLRT_TRY(copy({memoryOfHost, batch->host, 0},
                    {memoryOfDevice, nullptr, batch->device}, batch->bytes, {},
                    batchNode));
    for (const Command &command : program.commands)
      DLRT_TRY(add(command));
    for (const Transfer &report : program.reports) {
      Node node;
      DLRT_TRY(copy({memoryOfDevice, nullptr, report.device},
                    {memoryOfHost, report.host, 0}, report.bytes,
                    nodesOf(report.after), node));
    }
    return {};
  }

  Expected<Exec> instantiate() {
    Exec exec = nullptr;
    DLRT_TRY(cuda.check(cuda.graphInstantiate(&exec, graph, 0),
                        "preparing a graph"));
    return exec;
  }

private:
  struct Side {
    unsigned memory;
    uint8_t *host;
    Pointer device;
  };

  std::vector<Node> nodesOf(const std::vector<uint32_t> &commands) const {
    std::vector<Node> all;
    for (uint32_t command : commands)
      all.push_back(nodes[command]);
    return all;
  }

  Status copy(const Side &from, const Side &to, uint64_t bytes,
              const std::vector<Node> &after, Node &node) {
    if (bytes == 0) // no copy, but it has a place in the order
      return join(after, node);
    CopyNode copy = {};
    copy.from.memoryType = from.memory;
    copy.from.host = from.host;
    copy.from.device = from.device;
    copy.to.memoryType = to.memory;
    copy.to.host = to.host;
    copy.to.device = to.device;
    copy.widthInBytes = bytes;
    copy.height = copy.depth = 1;
    return cuda.check(cuda.addCopyNode(&node, graph, after.data(), after.size(),
                                       &copy, context),
                      "adding a copy to a graph");
  }

  /// A place in the order, and no work.
  Status join(const std::vector<Node> &after, Node &node) {
    return cuda.check(
        cuda.addEmptyNode(&node, graph, after.data(), after.size()),
        "adding a place to a graph");
  }

  /// All begin when all of `after` have ended, and the node when all have
  /// ended. Between many and many others a place stands, not an edge for each
  /// two.
  Status copies(const std::vector<CopyOnDevice> &all, std::vector<Node> after,
                Node &node) {
    auto copyOne = [&](const CopyOnDevice &one, Node &made) {
      return copy({memoryOfDevice, nullptr, one.from},
                  {memoryOfDevice, nullptr, one.to}, one.bytes, after, made);
    };
    if (all.size() == 1)
      return copyOne(all[0], node);
    if (all.size() > 1 && after.size() > 1) {
      Node begin = nullptr;
      DLRT_TRY(join(after, begin));
      after = {begin};
    }
    std::vector<Node> made;
    for (const CopyOnDevice &one : all)
      DLRT_TRY(copyOne(one, made.emplace_back()));
    return join(made.empty() ? after : made, node);
  }

  /// What a library does in the stream is a graph of its own, whatever it
  /// consists of.
  template <typename Call>
  Status capture(const Call &call, const std::string &what,
                 const std::vector<Node> &after, Node &node) {
    DLRT_TRY(cuda.check(cuda.beginCapture(stream, captureRelaxed), what));
    Status called = call();
    Graph captured = nullptr;
    Result ended = cuda.endCapture(stream, &captured);
    Status added =
        !called.ok() ? called : cuda.check(ended, what + ": its graph");
    if (added.ok())
      added = cuda.check(cuda.addChildGraph(&node, graph, after.data(),
                                            after.size(), captured),
                         what);
    if (captured)
      cuda.graphDestroy(captured);
    return added;
  }

  Status multiply(const Command &command, const std::vector<Node> &after,
                  Node &node) {
    const std::string &what = command.kernel->description;
    return capture(
        [&] { return command.product->call(command.operands, stream, what); },
        what, after, node);
  }

  /// What stays on the device goes beside what leaves it.
  Status exchange(const Command &command, const std::vector<Node> &after,
                  Node &node) {
    if (command.messages.empty())
      return copies(command.copies, after, node);
    const std::string &what = command.description;
    auto start = [&] {
      return command.communicator->start(command.messages, stream, what);
    };
    if (command.copies.empty())
      return capture(start, what, after, node);
    std::vector<Node> both(2);
    DLRT_TRY(capture(start, what, after, both[0]));
    DLRT_TRY(copies(command.copies, after, both[1]));
    return join(both, node);
  }

  Status add(const Command &command) {
    std::vector<Node> after = nodesOf(command.after);
    if (command.readsBatch && batchNode)
      after.push_back(batchNode);
    Node &node = nodes.emplace_back();
    if (command.product)
      return multiply(command, after, node);
    if (!command.kernel)
      return exchange(command, after, node);
    const Kernel &kernel = *command.kernel;
    KernelNode launch = {};
    launch.function = kernel.function;
    launch.grid[0] = kernel.blocks;
    launch.block[0] = kernel.threads;
    launch.grid[1] = launch.grid[2] = launch.block[1] = launch.block[2] = 1;
    launch.sharedBytes = kernel.sharedBytes;
    launch.arguments = const_cast<void **>(command.places.data());
    return cuda.check(
        cuda.addKernelNode(&node, graph, after.data(), after.size(), &launch),
        kernel.description);
  }

  const Driver &cuda;
  Context context;
  Stream stream;
  Graph graph = nullptr;
  Node batchNode = nullptr;
  std::vector<Node> nodes; ///< by command
};

} // namespace

Expected<Exec> dlrt::cuda::makeGraph(const Driver &cuda, Context context,
                                     Stream stream,
                                     const BoundProgram &program) {
  GraphBuilder builder(cuda, context, stream);
  DLRT_TRY(builder.build(program));
  return builder.instantiate();
}
