// The emulated NCCL: bytes between devices of several processes, and the
// mistakes that the real one answers with other bytes or by waiting for ever.
#include "test/device/DriverApi.h"
#include "test/device/NcclApi.h"
#include "test/forked/Forked.h"

#include <chrono>
#include <csignal>
#include <dlfcn.h>
#include <numeric>

using namespace emulated;
using dltest::inProcesses;

#define EXPECT_SAYS(text, part)                                                \
  EXPECT_NE((text).find(part), std::string::npos) << (text)

namespace {

struct CommT;

struct NcclCalls {
  int (*ncclGetUniqueId)(nccl::UniqueId *);
  int (*ncclCommInitRank)(CommT **, int, nccl::UniqueId, int);
  int (*ncclCommDestroy)(CommT *);
  int (*ncclCommAbort)(CommT *);
  int (*ncclCommGetAsyncError)(CommT *, int *);
  const char *(*ncclGetLastError)(CommT *);
  int (*ncclGroupStart)();
  int (*ncclGroupEnd)();
  int (*ncclSend)(const void *, size_t, int, int, CommT *, StreamT *);
  int (*ncclRecv)(void *, size_t, int, int, CommT *, StreamT *);

  NcclCalls() {
    void *library = dlopen(TEST_LIBNCCL, RTLD_NOW | RTLD_LOCAL);
    if (!library)
      abort();
#define LOAD(name)                                                             \
  name = reinterpret_cast<decltype(name)>(dlsym(library, #name))
    LOAD(ncclGetUniqueId), LOAD(ncclCommInitRank), LOAD(ncclCommDestroy),
        LOAD(ncclCommAbort), LOAD(ncclCommGetAsyncError);
    LOAD(ncclGetLastError), LOAD(ncclGroupStart), LOAD(ncclGroupEnd),
        LOAD(ncclSend), LOAD(ncclRecv);
#undef LOAD
  }
};

nccl::UniqueId newId() {
  EmulatedDevice device;
  nccl::UniqueId id;
  EXPECT_EQ(NcclCalls().ncclGetUniqueId(&id), 0);
  return id;
}

struct Message {
  int peer;
  size_t at, bytes; ///< in the rank's memory
};

/// A rank of a process: a device of its own, 4 KiB of its memory, a stream.
struct Rank {
  int number, size;
  EmulatedDevice device;
  NcclCalls nccl;
  CommT *comm = nullptr;
  StreamT *stream = nullptr;
  EventT *event = nullptr;
  DevicePointer memory = 0;
  std::string wrong; ///< what joining said

  static Environment withDevice(Environment environment, int number) {
    environment.try_emplace("CUDA_VISIBLE_DEVICES", std::to_string(number));
    return environment;
  }

  Rank(int number, int size, const nccl::UniqueId &id,
       const Environment &environment = {})
      : number(number), size(size), device(withDevice(environment, number)) {
    auto &cu = device.cu;
    EXPECT_EQ(cu.cuCtxSetCurrent(device.context), 0);
    EXPECT_EQ(cu.cuStreamCreate(&stream, 1), 0);
    EXPECT_EQ(cu.cuEventCreate(&event, 2), 0);
    std::vector<unsigned char> bytes(4096);
    for (size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = static_cast<unsigned char>(31 * i + 101 * size_t(number));
    memory = device.upload(bytes);
    if (nccl.ncclCommInitRank(&comm, size, id, number) != 0)
      wrong = nccl.ncclGetLastError(nullptr);
  }

  /// The rank's byte at a place, before anything was received.
  static unsigned char byteOf(int rank, size_t at) {
    return static_cast<unsigned char>(31 * at + 101 * size_t(rank));
  }

  int start(const std::vector<Message> &sends,
            const std::vector<Message> &receives, StreamT *in = nullptr) {
    int status = nccl.ncclGroupStart();
    auto at = [&](const Message &m) {
      return reinterpret_cast<char *>(memory + m.at);
    };
    for (const Message &m : sends)
      status |=
          nccl.ncclSend(at(m), m.bytes, 0, m.peer, comm, in ? in : stream);
    for (const Message &m : receives)
      status |=
          nccl.ncclRecv(at(m), m.bytes, 0, m.peer, comm, in ? in : stream);
    return status | nccl.ncclGroupEnd();
  }

  GraphT *captured(const std::vector<Message> &sends,
                   const std::vector<Message> &receives) {
    GraphT *graph = nullptr;
    EXPECT_EQ(device.cu.cuStreamBeginCapture_v2(stream, 2), 0);
    EXPECT_EQ(start(sends, receives), 0);
    EXPECT_EQ(device.cu.cuStreamEndCapture(stream, &graph), 0);
    return graph;
  }

  /// An error of the communicator, or nothing once the stream has ended.
  std::string wait() {
    EXPECT_EQ(device.cu.cuEventRecord(event, stream), 0);
    for (int result; (result = device.cu.cuEventQuery(event)) != 0;) {
      if (result != NotReady)
        return "the driver says " + std::to_string(result);
      int error = 0;
      EXPECT_EQ(nccl.ncclCommGetAsyncError(comm, &error), 0);
      if (error)
        return nccl.ncclGetLastError(comm);
      usleep(100);
    }
    return "";
  }

  /// Whether a received message has the sender's bytes.
  bool holds(const Message &m, size_t sentFrom) {
    auto bytes = device.download<unsigned char>(memory + m.at, m.bytes);
    for (size_t i = 0; i < m.bytes; ++i)
      if (bytes[i] != byteOf(m.peer, sentFrom + i))
        return false;
    return true;
  }
};

/// All say the same, or each what is wrong with it.
void expectAll(const std::vector<std::string> &said, const std::string &words) {
  for (const std::string &text : said)
    EXPECT_EQ(text, words);
}

const Environment eager = {{"DLEMU_MODE", "eager"}},
                  lazy = {{"DLEMU_MODE", "lazy"}};

} // namespace

/// To the next and the one before it, of other sizes, at once and from a graph
/// that is launched three times.
TEST(EmulatedNccl, BytesGoAround) {
  for (int ranks : {2, 3, 5})
    for (const Environment &mode : {eager, lazy})
      for (bool inGraph : {false, true}) {
        nccl::UniqueId id = newId();
        expectAll(
            inProcesses(
                ranks,
                [&](int number) -> std::string {
                  Rank rank(number, ranks, id, mode);
                  int next = (number + 1) % ranks,
                      last = (number + ranks - 1) % ranks;
                  std::vector<Message> sends = {{next, 0, 100}, {next, 200, 1}},
                                       receives = {{last, 1000, 100},
                                                   {last, 1200, 1}};
                  if (inGraph) {
                    GraphT *graph = rank.captured(sends, receives);
                    ExecT *exec = nullptr;
                    EXPECT_EQ(rank.device.cu.cuGraphInstantiateWithFlags(
                                  &exec, graph, 0),
                              0);
                    for (int run = 0; run < 3; ++run)
                      EXPECT_EQ(rank.device.cu.cuGraphLaunch(exec, rank.stream),
                                0);
                    EXPECT_EQ(rank.wait(), "");
                    rank.device.cu.cuGraphDestroy(graph);
                    rank.device.cu.cuGraphExecDestroy(exec);
                  } else {
                    EXPECT_EQ(rank.start(sends, receives), 0);
                    EXPECT_EQ(rank.wait(), "");
                  }
                  EXPECT_TRUE(rank.holds(receives[0], 0) &&
                              rank.holds(receives[1], 200));
                  EXPECT_EQ(rank.nccl.ncclCommDestroy(rank.comm), 0);
                  return rank.device.said();
                }),
            "");
      }
}

/// A rank whose host does something else still takes part, as devices do.
TEST(EmulatedNccl, TheHostNeedNotWait) {
  for (const Environment &mode : {eager, lazy}) {
    nccl::UniqueId id = newId();
    expectAll(inProcesses(2,
                          [&](int number) -> std::string {
                            Rank rank(number, 2, id, mode);
                            EXPECT_EQ(rank.start({{1 - number, 0, 10}},
                                                 {{1 - number, 50, 10}}),
                                      0);
                            if (number == 0)
                              usleep(600000);
                            auto began = std::chrono::steady_clock::now();
                            EXPECT_EQ(rank.wait(), "");
                            std::chrono::duration<double> took =
                                std::chrono::steady_clock::now() - began;
                            EXPECT_LT(took.count(), 0.5) << "rank " << number;
                            EXPECT_EQ(rank.nccl.ncclCommDestroy(rank.comm), 0);
                            return "";
                          }),
              "");
  }
}

/// Rank 1 takes two operations in the other order.
TEST(EmulatedNccl, OtherOrdersAreFound) {
  for (const Environment &mode : {eager, lazy}) {
    nccl::UniqueId id = newId();
    auto said = inProcesses(2, [&](int number) {
      Rank rank(number, 2, id, mode);
      for (size_t i : {0, 1}) {
        size_t bytes = (i == size_t(number)) ? 8 : 16;
        EXPECT_EQ(
            rank.start({{1 - number, 0, bytes}}, {{1 - number, 64, bytes}}), 0);
      }
      std::string error = rank.wait();
      EXPECT_EQ(rank.nccl.ncclCommAbort(rank.comm), 0);
      EXPECT_EQ(rank.device.cu.cuStreamSynchronize(rank.stream), 0);
      return error;
    });
    for (const std::string &text : said)
      EXPECT_SAYS(text, "do not start their operations in one order");
    EXPECT_SAYS(said[0] + said[1], "operation 1 of rank");
    EXPECT_SAYS(said[0] + said[1], "receives 16 bytes");
    EXPECT_SAYS(said[0] + said[1], "receives 8 bytes");
  }
}

/// Of one size, so that bytes would come to the wrong place: what was captured
/// first on one rank is launched second.
TEST(EmulatedNccl, GraphsMustBeLaunchedInOneOrder) {
  nccl::UniqueId id = newId();
  auto said = inProcesses(2, [&](int number) {
    Rank rank(number, 2, id, lazy);
    auto &cu = rank.device.cu;
    ExecT *execs[2];
    for (size_t i : {0, 1}) {
      GraphT *graph = rank.captured({{1 - number, i * 16, 8}},
                                    {{1 - number, 64 + 16 * i, 8}});
      EXPECT_EQ(cu.cuGraphInstantiateWithFlags(&execs[i], graph, 0), 0);
      cu.cuGraphDestroy(graph);
    }
    for (int i : {0, 1})
      EXPECT_EQ(cu.cuGraphLaunch(execs[number == 0 ? i : 1 - i], rank.stream),
                0);
    std::string error = rank.wait();
    for (ExecT *exec : execs)
      cu.cuGraphExecDestroy(exec);
    EXPECT_EQ(rank.nccl.ncclCommAbort(rank.comm), 0);
    return error;
  });
  for (const std::string &text : said)
    EXPECT_SAYS(text, "do not start their operations in one order");
  EXPECT_SAYS(said[0] + said[1], "captured as its number 2 with rank");
}

/// Two operations of a graph without an edge between them.
TEST(EmulatedNccl, OperationsMustBeOrdered) {
  for (bool ordered : {true, false}) {
    nccl::UniqueId id = newId();
    auto said = inProcesses(2, [&](int number) {
      Rank rank(number, 2, id, lazy);
      auto &cu = rank.device.cu;
      GraphT *graph = nullptr;
      EXPECT_EQ(cu.cuGraphCreate(&graph, 0), 0);
      NodeT *nodes[2] = {};
      for (size_t i : {0, 1}) {
        GraphT *child = rank.captured({{1 - number, i * 16, 8}},
                                      {{1 - number, 64 + 16 * i, 8}});
        EXPECT_EQ(cu.cuGraphAddChildGraphNode(&nodes[i], graph, nodes,
                                              ordered ? i : 0, child),
                  0);
        cu.cuGraphDestroy(child);
      }
      ExecT *exec = nullptr;
      EXPECT_EQ(cu.cuGraphInstantiateWithFlags(&exec, graph, 0), 0);
      cu.cuGraphDestroy(graph);
      std::string error;
      for (int run = 0; run < 8 && error.empty(); ++run) {
        EXPECT_EQ(cu.cuGraphLaunch(exec, rank.stream), 0);
        error = rank.wait();
      }
      cu.cuGraphExecDestroy(exec);
      EXPECT_EQ(error.empty() ? rank.nccl.ncclCommDestroy(rank.comm)
                              : rank.nccl.ncclCommAbort(rank.comm),
                0);
      return error;
    });
    std::string all = said[0] + said[1];
    bool found = all.find("nothing orders them") != all.npos ||
                 all.find("in one order") != all.npos;
    EXPECT_EQ(found, !ordered) << all;
    EXPECT_EQ(all.empty(), ordered) << all;
  }
}

TEST(EmulatedNccl, SizesMustAgree) {
  nccl::UniqueId id = newId();
  auto said = inProcesses(2, [&](int number) {
    Rank rank(number, 2, id);
    EXPECT_EQ(number == 0 ? rank.start({{1, 0, 8}, {1, 8, 8}}, {})
                          : rank.start({}, {{0, 0, 16}}),
              0);
    std::string error = rank.wait();
    EXPECT_EQ(rank.nccl.ncclCommAbort(rank.comm), 0);
    return error;
  });
  EXPECT_SAYS(said[0] + said[1], "8 + 8 bytes");
  EXPECT_SAYS(said[0] + said[1], "16 bytes");
}

TEST(EmulatedNccl, RanksMustAgreeAboutOneAnother) {
  struct Wrong {
    int size, number;
    Environment environment;
    const char *words;
  };
  for (const Wrong &wrong :
       {Wrong{3, 1, {}, "rank 1 says that there are 3 ranks, rank 0 says 2"},
        {2, 0, {{"CUDA_VISIBLE_DEVICES", "1"}}, "two ranks say"},
        {2,
         1,
         {{"CUDA_VISIBLE_DEVICES", "0"}},
         "ranks 0 and 1 are both on "
         "device 0"}}) {
    nccl::UniqueId id = newId();
    auto said = inProcesses(2, [&](int number) {
      Environment first = {{"DLEMU_NCCL_SECONDS", "1"}};
      return number == 0
                 ? Rank(0, 2, id, first).wrong
                 : Rank(wrong.number, wrong.size, id, wrong.environment).wrong;
    });
    EXPECT_SAYS(said[0] + said[1], wrong.words);
  }
}

TEST(EmulatedNccl, ARankThatGoesIsNoticed) {
  nccl::UniqueId id = newId();
  auto said = inProcesses(3, [&](int number) -> std::string {
    Rank rank(number, 3, id, lazy);
    if (number == 2)
      raise(SIGKILL);
    int other = 1 - number;
    EXPECT_EQ(rank.start({{2, 0, 8}, {other, 0, 8}}, {{other, 64, 8}}), 0);
    std::string error = rank.wait();
    EXPECT_EQ(rank.nccl.ncclCommAbort(rank.comm), 0);
    EXPECT_EQ(rank.device.cu.cuStreamSynchronize(rank.stream), 0)
        << "what is aborted lets the stream go";
    return error;
  });
  EXPECT_SAYS(said[0], "rank 2 has gone");
  EXPECT_SAYS(said[1], "rank 2 has gone");
  EXPECT_SAYS(said[2], "signal 9");
}

TEST(EmulatedNccl, ARankThatDoesNotComeIsNamed) {
  nccl::UniqueId id = newId();
  auto said = inProcesses(2, [&](int number) -> std::string {
    Rank rank(number, 2, id, {{"DLEMU_NCCL_SECONDS", "0.3"}});
    if (number == 0)
      EXPECT_EQ(rank.start({{1, 0, 8}}, {}), 0);
    else
      usleep(1000000);
    std::string error = rank.wait();
    EXPECT_EQ(rank.nccl.ncclCommAbort(rank.comm), 0);
    return error;
  });
  EXPECT_SAYS(said[0], "operation 1 of rank 0 has waited for rank 1");
}

TEST(EmulatedNccl, CallsThatAreOutOfPlace) {
  nccl::UniqueId id = newId();
  auto said = inProcesses(2, [&](int number) -> std::string {
    Rank rank(number, 2, id);
    auto refuses = [&](int status, const char *words) {
      EXPECT_NE(status, 0);
      EXPECT_SAYS(std::string(rank.nccl.ncclGetLastError(nullptr)), words);
    };
    refuses(rank.nccl.ncclGroupEnd(), "no group is open");
    refuses(rank.start({{number, 0, 8}}, {}), "has no rank");
    refuses(rank.start({{2, 0, 8}}, {}), "has no rank 2");
    refuses(rank.start({{1 - number, 4000, 200}}, {}), "not the device's");
    rank.nccl.ncclGroupStart();
    refuses(rank.nccl.ncclCommDestroy(rank.comm), "while a group is open");
    EXPECT_EQ(rank.nccl.ncclGroupEnd(), 0);
    EXPECT_EQ(number == 0 ? rank.nccl.ncclCommDestroy(rank.comm)
                          : rank.nccl.ncclCommAbort(rank.comm),
              0);
    refuses(rank.start({{1 - number, 0, 8}}, {}), "a communicator that was");
    refuses(rank.nccl.ncclCommAbort(rank.comm), "a communicator that was");
    return "";
  });
  for (const std::string &text : said)
    EXPECT_EQ(text, "");
}

/// NCCL waits for the end of what has captured its operations.
TEST(EmulatedNccl, GraphsMustEndBeforeTheCommunicator) {
  for (bool first : {true, false}) {
    nccl::UniqueId id = newId();
    auto said = inProcesses(2, [&](int number) -> std::string {
      Rank rank(number, 2, id);
      GraphT *graph = rank.captured({{1 - number, 0, 8}}, {});
      if (first)
        rank.device.cu.cuGraphDestroy(graph);
      EXPECT_EQ(number == 0 ? rank.nccl.ncclCommDestroy(rank.comm)
                            : rank.nccl.ncclCommAbort(rank.comm),
                0);
      return "";
    });
    for (const std::string &text : said)
      EXPECT_EQ(text, first ? "" : " ended by signal 6");
  }
}
