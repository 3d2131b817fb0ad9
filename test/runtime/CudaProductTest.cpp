// Products of matrices by cuBLASLt, on the emulated device and with an emulated
// library, which checks what it is given.
#include "runtime/device/cuda/DeviceFactory.h"
#include "runtime/plan/DTypes.h"
#include "runtime/plan/MatrixProduct.h"
#include "test/runtime/CudaPlans.h"

#include <bit>
#include <cmath>
#include <cstring>

using namespace dlrt;
using namespace dlrt::test;

namespace {

/// A matrix of a product as a test wants it to lie in memory.
struct Place {
  uint64_t stride, batchStride = 0;
  bool transposed = false;
  uint64_t offset = 0;
};

struct Shape {
  uint64_t batch, m, n, k;
  Place a, b, d;
  bool adds = false, hasBias = false; // c, which lies as d does
};

/// A program with one product, whose operands are random.
struct Multiplication {
  PlanBuilder builder = singleProgramPlan();
  Shape shape;
  fb::Arithmetic arithmetic;
  uint32_t buffers[5], workspace, kernel;
  std::vector<double> values[5]; // not of the result

  Multiplication(const Shape &shape, fb::Arithmetic arithmetic,
                 uint64_t workspaceBytes = 4096)
      : shape(shape), arithmetic(arithmetic) {
    builder.arena(64); // so that not all begin at a multiple of 256
    uint64_t rows[] = {shape.m, shape.k, shape.m},
             columns[] = {shape.k, shape.n, shape.n};
    std::vector<uint64_t> bytes;
    auto product = fb::MultiplyT();
    product.launch = std::make_unique<fb::LaunchT>();
    for (int i = 0; i < 3; ++i) {
      const Place &place = *places()[i];
      uint64_t last = (place.transposed ? columns : rows)[i],
               inner = (place.transposed ? rows : columns)[i];
      uint64_t elements = place.offset + (shape.batch - 1) * place.batchStride +
                          (last - 1) * place.stride + inner;
      bytes.push_back(elements * elementBytes(i));
      buffers[i] = builder.arena(bytes.back());
      product.launch->bindings.push_back(builder.whole(buffers[i]));
      product.matrices.push_back(
          fb::MatrixPlace(place.offset, place.batchStride, place.stride,
                          uint32_t(i), place.transposed));
      if (i < 2)
        fill(i, elements);
    }
    std::vector<bool> writes = {false, false, true};
    auto bind = [&](int which, uint64_t elements) {
      fill(which, elements);
      bytes.push_back(elements * elementBytes(which));
      writes.push_back(false);
      buffers[which] = builder.arena(bytes.back());
      product.launch->bindings.push_back(builder.whole(buffers[which]));
      return static_cast<uint32_t>(bytes.size() - 1);
    };
    if (shape.adds)
      product.matrices.push_back(
          fb::MatrixPlace(shape.d.offset, shape.d.batchStride, shape.d.stride,
                          bind(3, bytes[2] / elementBytes(2)), false));
    if (shape.hasBias)
      product.bias = int32_t(bind(4, shape.n));
    workspace = builder.arena(workspaceBytes);
    kernel = builder.kernel("multiply_small", 1, bytes, writes);
    builder.plan.kernels[kernel]->binding_aligns.assign(bytes.size(),
                                                        elementBytes(2));
    product.launch->kernel = kernel;
    product.batch = shape.batch;
    product.m = shape.m;
    product.n = shape.n;
    product.k = shape.k;
    product.arithmetic = arithmetic;
    product.workspace = workspace;
    auto command = std::make_unique<fb::CommandT>();
    command->work.Set(std::move(product));
    program().commands.push_back(std::move(command));
    makeCuda(builder.plan);
  }

  std::array<const Place *, 3> places() const {
    return {&shape.a, &shape.b, &shape.d};
  }
  uint64_t elementBytes(int which) const {
    return sizeOf(elementOf(arithmetic, which));
  }
  fb::ProgramT &program() { return *builder.plan.steps[0]->programs[0]; }
  fb::MultiplyT &product() { return *program().commands[0]->work.AsMultiply(); }
  Bytes file() {
    return seal(builder.plan, moduleTable(builder.plan, kernels()));
  }
  std::string verdict() { return test::verdict(file()); }

  /// With no more bits than bf16 has, where a matrix is of it.
  void fill(int which, uint64_t count) {
    bool isNarrow = elementOf(arithmetic, which) == fb::DType::BF16;
    for (uint64_t i = 0; i < count; ++i) {
      uint64_t number = i * 7919 + which * 31;
      values[which].push_back(isNarrow ? double(number % 256) / 256 - 0.5
                                       : double(number % 1000) / 1000 - 0.5);
    }
  }

  /// Of the element that a matrix has at a place.
  uint64_t index(int matrix, uint64_t batch, uint64_t row,
                 uint64_t column) const {
    const Place &place = *places()[matrix];
    if (place.transposed)
      std::swap(row, column);
    return place.offset + batch * place.batchStride + row * place.stride +
           column;
  }

  Bytes bytesOf(int which) const {
    uint64_t each = elementBytes(which);
    Bytes bytes(values[which].size() * each);
    for (size_t i = 0; i < values[which].size(); ++i) {
      double value = values[which][i];
      auto narrow = float(value);
      auto upper = uint16_t(std::bit_cast<uint32_t>(narrow) >> 16);
      std::memcpy(bytes.data() + i * each,
                  each == 8   ? static_cast<const void *>(&value)
                  : each == 2 ? static_cast<const void *>(&upper)
                              : &narrow,
                  each);
    }
    return bytes;
  }

  void write(Device &device) {
    for (int i = 0; i < 5; ++i)
      if (!values[i].empty())
        EXPECT_TRUE(device.write({buffers[i]}, bytesOf(i)).ok());
  }

  /// The result, as it lies in memory.
  std::vector<double> run(Device &device) {
    auto report = device.wait(device.submit({}));
    EXPECT_TRUE(report) << report.status().message();
    Bytes bytes(builder.plan.buffers[buffers[2]]->bytes);
    EXPECT_TRUE(device.read({buffers[2]}, bytes).ok());
    uint64_t each = elementBytes(2);
    std::vector<double> result(bytes.size() / each);
    for (size_t i = 0; i < result.size(); ++i) {
      const char *at = reinterpret_cast<const char *>(bytes.data()) + i * each;
      float narrow;
      uint16_t upper;
      if (each == 8) {
        std::memcpy(&result[i], at, 8);
      } else if (each == 4) {
        std::memcpy(&narrow, at, 4);
        result[i] = narrow;
      } else {
        std::memcpy(&upper, at, 2);
        result[i] = std::bit_cast<float>(uint32_t(upper) << 16);
      }
    }
    return result;
  }

  /// The largest distance to the product of what was written, and to zero of
  /// all that is no element of the result.
  double error(const std::vector<double> &result) const {
    double worst = 0;
    std::vector<double> wanted(result.size());
    for (uint64_t batch = 0; batch < shape.batch; ++batch)
      for (uint64_t row = 0; row < shape.m; ++row)
        for (uint64_t column = 0; column < shape.n; ++column) {
          double &sum = wanted[index(2, batch, row, column)];
          for (uint64_t k = 0; k < shape.k; ++k)
            sum += values[0][index(0, batch, row, k)] *
                   values[1][index(1, batch, k, column)];
          if (shape.adds)
            sum += values[3][index(2, batch, row, column)];
          if (shape.hasBias)
            sum += values[4][column];
        }
    for (size_t i = 0; i < result.size(); ++i)
      worst = std::max(worst, std::abs(result[i] - wanted[i]));
    return worst;
  }
};

/// What `multiply_small` computes as well.
const Shape small = {1, 3, 5, 4, {4}, {4, 0, true}, {5}};

} // namespace

TEST(CudaProducts, InEachArithmeticAndLayout) {
  const Shape shapes[] = {
      small,
      {1, 7, 6, 5, {5}, {6}, {6}},
      {1, 7, 6, 5, {9, 0, true}, {8}, {11}},
      {1, 7, 6, 5, {7, 0, true}, {5, 0, true}, {6}},
      {3, 4, 5, 6, {6, 24}, {6, 30, true}, {5, 20}},
      {3, 4, 5, 6, {6, 24}, {5, 0}, {5, 20}},  // one matrix for all
      {3, 4, 5, 6, {18, 6}, {15, 5}, {15, 5}}, // heads beside one another
      {1, 1, 8, 16, {16}, {8}, {8}},
      {1, 8, 1, 16, {16}, {16, 0, true}, {1}},
      {1, 7, 6, 5, {5}, {6}, {11}, true},
      {3, 4, 5, 6, {18, 6}, {15, 5}, {15, 5}, true},
      {1, 7, 6, 5, {5}, {6}, {6}, false, true},
      {3, 4, 5, 6, {6, 24}, {6, 30, true}, {5, 20}, true, true},
      // From an element within the binding on.
      {1, 7, 6, 5, {9, 0, true, 3}, {8, 0, false, 16}, {11}},
      {3,
       4,
       5,
       6,
       {6, 24, false, 24},
       {6, 30, true, 1},
       {5, 20, false, 2},
       true},
  };
  for (const Shape &shape : shapes)
    for (auto [arithmetic, bound] : {std::pair(fb::Arithmetic::F32, 1e-6),
                                     {fb::Arithmetic::TF32, 2e-3},
                                     {fb::Arithmetic::F64, 1e-14},
                                     {fb::Arithmetic::BF16, 4e-3},
                                     {fb::Arithmetic::BF16ToF32, 1e-6}}) {
      bool isPlain = !shape.hasBias && !shape.adds;
      if ((shape.hasBias && arithmetic == fb::Arithmetic::F64) ||
          (!isPlain && arithmetic == fb::Arithmetic::BF16))
        continue; // which a plan may not ask for
      Multiplication product(shape, arithmetic);
      Opened opened(product.file());
      ASSERT_TRUE(opened.status.ok()) << opened.status.message();
      EXPECT_EQ(opened.device->library(), "cuBLASLt 13.1.0");
      EXPECT_TRUE(opened.device->notes().empty());
      product.write(*opened.device);
      double error = product.error(product.run(*opened.device));
      EXPECT_LE(error, bound) << nameOf(arithmetic) << " m " << shape.m;
      if (arithmetic == fb::Arithmetic::TF32)
        EXPECT_GT(error, 1e-6) << "operands are rounded";
      if (arithmetic == fb::Arithmetic::BF16)
        EXPECT_GT(error, 1e-6) << "the result is rounded";
    }
}

/// In any order and one by one; an algorithm that adds parts as they come would
/// have others.
TEST(CudaProducts, TheSameBitsEachTime) {
  std::vector<double> first;
  for (int mode = 0; mode < 3; ++mode) {
    Environment environment({{"DLEMU_MODE", mode == 0 ? "eager" : "lazy"}});
    Multiplication product({1, 40, 30, 50, {50}, {30}, {30}},
                           fb::Arithmetic::F32);
    DeviceOptions options;
    options.trace = mode == 2;
    Opened opened(product.file(), options);
    ASSERT_TRUE(opened.status.ok()) << opened.status.message();
    for (int again = 0; again < 3; ++again) {
      product.write(*opened.device);
      std::vector<double> result = product.run(*opened.device);
      EXPECT_LE(product.error(result), 1e-5);
      if (first.empty())
        first = result;
      EXPECT_EQ(result, first);
    }
  }
}

TEST(CudaProducts, AKernelWhereThereIsNoLibrary) {
  Multiplication product(small, fb::Arithmetic::F32);
  auto computed = [&](const DeviceOptions &options, std::string &note) {
    Opened opened(product.file(), options);
    EXPECT_TRUE(opened.status.ok()) << opened.status.message();
    EXPECT_EQ(opened.device->library(), "");
    note = opened.device->notes().empty() ? "" : opened.device->notes()[0];
    product.write(*opened.device);
    EXPECT_LE(product.error(product.run(*opened.device)), 1e-6);
    EXPECT_EQ(opened.device->tilesPerThread(),
              std::vector<uint64_t>{1}); // a block
  };
  std::string note;
  DeviceOptions own;
  own.ownKernels = true;
  computed(own, note);
  EXPECT_EQ(note, "") << "it was asked for";
  {
    Environment environment({{"DLEMU_FAIL", "cublasLtCreate:1=1"}});
    computed({}, note);
    EXPECT_SAYS(note, "products run on the plan's own kernels, and not on "
                      "cuBLASLt: libcublasLt.so.13 does not start on this "
                      "device: CUBLAS_STATUS_NOT_INITIALIZED");
  }
  {
    Environment environment(
        {{"DLEMU_FAIL", "cublasLtMatmulAlgoGetHeuristic:1=15"}});
    computed({}, note);
    EXPECT_EQ(note, "cuBLASLt 13.1.0 has no algorithm for some products, which "
                    "run on the plan's own kernels: 3x4 by 4x5: "
                    "CUBLAS_STATUS_NOT_SUPPORTED");
  }
}

/// The first time: the kernel is run in its place, and that is said.
TEST(CudaProducts, ACallThatFailsNamesItsOps) {
  Environment environment({{"DLEMU_FAIL", "cublasLtMatmul:1=13"}});
  Multiplication product(small, fb::Arithmetic::F32);
  Opened opened(product.file());
  ASSERT_TRUE(opened.status.ok()) << opened.status.message();
  const std::vector<std::string> &notes = opened.device->notes();
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_SAYS(notes[0],
              "some products run on the plan's own kernels: CUDA: kernel "
              "'multiply_small' (matmul in 'fc1' at model.dl:3:5): "
              "cuBLASLt 13.1.0: CUBLAS_STATUS_EXECUTION_FAILED; --own-kernels "
              "leaves the library out");
}

/// The library writes all over its workspace, from the first multiple of 256
/// bytes on: whatever else lives there at that time is gone.
TEST(CudaProducts, TheWorkspaceIsItsAlone) {
  Multiplication product(small, fb::Arithmetic::F32);
  uint64_t begin = product.builder.plan.buffers[product.workspace]->offset;
  uint32_t other = product.builder.arenaAt((begin + 255) / 256 * 256, 64);
  product.builder.plan.buffers[other]->memory = fb::Memory::Device;
  Opened opened(product.file());
  ASSERT_TRUE(opened.status.ok()) << opened.status.message();
  std::vector<uint8_t> bytes(64, 7);
  ASSERT_TRUE(opened.device->write({other}, bytes).ok());
  product.write(*opened.device);
  product.run(*opened.device);
  ASSERT_TRUE(opened.device->read({other}, bytes).ok());
  EXPECT_EQ(bytes, std::vector<uint8_t>(64, 0xff));
}

/// One of the two runs, the library or the kernel.
TEST(CudaProducts, TheKernelsOwnWorkspaceMayBeTheSame) {
  auto withOwn = [](bool writes, uint64_t bytes, uint64_t needed = 0) {
    Multiplication product(small, fb::Arithmetic::F32);
    fb::KernelT &kernel = *product.builder.plan.kernels[product.kernel];
    kernel.binding_bytes.push_back(needed ? needed : bytes);
    kernel.binding_aligns.push_back(64);
    kernel.writes.push_back(writes);
    product.product().launch->bindings.push_back(
        fb::Range(product.workspace, 0, bytes));
    return product.verdict();
  };
  EXPECT_EQ(withOwn(true, 4096), "");
  EXPECT_EQ(withOwn(true, 4096, 2048), ""); // less than the library's
  EXPECT_SAYS(withOwn(true, 2048), "its workspace is where its matrices are");
  EXPECT_SAYS(withOwn(false, 4096), "its workspace is where its matrices are");
}

/// What no library of ours adds, or adds to.
TEST(CudaProducts, NothingIsAddedToSomeResults) {
  Multiplication wide({1, 3, 5, 4, {4}, {4, 0, true}, {5}, false, true},
                      fb::Arithmetic::F64);
  EXPECT_SAYS(wide.verdict(), "no library adds a bias in f64");
  Multiplication narrow({1, 3, 5, 4, {4}, {4, 0, true}, {5}, true},
                        fb::Arithmetic::BF16);
  EXPECT_SAYS(narrow.verdict(),
              "something is added to a result that is rounded to bf16");
}

TEST(CudaProducts, WhatAPlanMayNotSay) {
  auto after = [](auto change, const Shape &shape = small) {
    Multiplication product(shape, fb::Arithmetic::F32);
    EXPECT_EQ(product.verdict(), "");
    change(product);
    return product.verdict();
  };
  using M = Multiplication;
  auto matrix = [](int which, uint64_t stride, uint32_t binding,
                   bool transposed = false) {
    return [=](M &m) {
      m.product().matrices[which] =
          fb::MatrixPlace(0, 0, stride, binding, transposed);
    };
  };
  EXPECT_SAYS(after(matrix(0, 5, 0)),
              "matrix a leaves the 48 bytes of binding 0");
  EXPECT_SAYS(after(matrix(1, 3, 1, true)),
              "rows of 4 elements of matrix b are 3 apart");
  EXPECT_SAYS(after(matrix(2, 5, 0)), "matrix d is not what its launch writes");
  EXPECT_SAYS(after(matrix(1, 4, 2, true)),
              "matrix b is not what its launch reads");
  EXPECT_SAYS(after(matrix(0, 4, 3)), "matrix a is not what its launch reads");
  EXPECT_SAYS(after(matrix(2, 5, 2, true)), "its result is transposed");
  EXPECT_SAYS(after(matrix(0, uint64_t(1) << 31, 0)), "are 2147483648 apart");
  EXPECT_SAYS(after([](M &m) { m.product().batch = 2; }),
              "matrices of its result share bytes");
  EXPECT_SAYS(after([](M &m) { m.product().k = 0; }), "3x0 and 0x5");
  EXPECT_SAYS(after([](M &m) { m.product().m = uint64_t(1) << 40; }),
              "it multiplies 1 times 1099511627776x4");
  EXPECT_SAYS(after([](M &m) { m.product().matrices.pop_back(); }),
              "it has 2 matrices");
  const Shape more = {1, 3, 5, 4, {4}, {4, 0, true}, {5}, true, true};
  EXPECT_SAYS(after(matrix(3, 5, 3, true), more),
              "what is added to it is transposed");
  EXPECT_SAYS(after(matrix(3, 6, 3), more), "matrix c leaves the 60 bytes");
  EXPECT_SAYS(after(matrix(3, 5, 2), more),
              "matrix c is not what its launch reads");
  EXPECT_SAYS(after([](M &m) { m.product().bias = 2; }, more),
              "its bias is not what its launch reads");
  EXPECT_SAYS(after([](M &m) { m.product().bias = -2; }, more),
              "its bias is not what its launch reads");
  EXPECT_SAYS(after([](M &m) { m.product().bias = 1 << 30; }, more),
              "its bias is not what its launch reads");
  EXPECT_SAYS(after(
                  [](M &m) {
                    uint32_t kernel = m.product().launch->kernel;
                    m.builder.plan.kernels[kernel]->binding_bytes[4] = 16;
                    fb::Range &range = m.product().launch->bindings[4];
                    range = fb::Range(range.buffer(), range.offset(), 16);
                  },
                  more),
              "its bias of 5 numbers is not in the 16 bytes of binding 4");
  EXPECT_SAYS(after([](M &m) { m.product().arithmetic = fb::Arithmetic(5); }),
              "unknown arithmetic");
  EXPECT_SAYS(after([](M &m) { m.product().arithmetic = fb::Arithmetic::F64; }),
              "leaves the 48 bytes");
  EXPECT_SAYS(after([](M &m) { m.product().workspace = 99; }),
              "buffer 99 does not exist");
  EXPECT_SAYS(after([](M &m) { m.product().workspace = m.buffers[1]; }),
              "its workspace is where its matrices are");
  EXPECT_SAYS(after([](M &m) { m.product().launch->bindings.pop_back(); }),
              "2 bindings");
  EXPECT_SAYS(after(
                  [](M &m) {
                    m.product().matrices[0] =
                        fb::MatrixPlace(0, ~uint64_t(0), 6, 0, false);
                  },
                  {3, 4, 5, 6, {6, 24}, {6, 30, true}, {5, 20}}),
              "matrix a leaves");
  for (uint64_t offset : {uint64_t(1), ~uint64_t(0)})
    EXPECT_SAYS(after([&](M &m) {
                  m.product().matrices[1] =
                      fb::MatrixPlace(offset, 0, 4, 1, true);
                }),
                "matrix b leaves the 80 bytes of binding 1");
}

/// Two products wait for one another where one writes what the other touches:
/// matrices, or the workspace.
TEST(CudaProducts, RacesAreRefused) {
  for (bool sharesWorkspace : {true, false}) {
    Multiplication product(small, fb::Arithmetic::F32);
    fb::ProgramT &program = product.program();
    uint32_t other = product.builder.arena(4096);
    product.builder.plan.buffers[other]->memory = fb::Memory::Device;
    auto second = std::make_unique<fb::CommandT>(*program.commands[0]);
    fb::MultiplyT &work = *second->work.AsMultiply();
    if (sharesWorkspace)
      work.launch->bindings[2] = product.builder.whole(other);
    else
      work.workspace = other;
    program.commands.push_back(std::move(second));
    EXPECT_SAYS(product.verdict(), "race: command 1 (multiply_small) writes");
    program.commands[1]->deps = {0};
    EXPECT_EQ(product.verdict(), "");
  }
}
