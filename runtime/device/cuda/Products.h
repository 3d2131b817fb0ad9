// Products of matrices that NVIDIA's library computes: asked for once when a
// plan is loaded, called where a graph is made of a program, or one by one.
#ifndef DLRT_DEVICE_CUDA_PRODUCTS_H
#define DLRT_DEVICE_CUDA_PRODUCTS_H

#include "runtime/device/cuda/Context.h"
#include "runtime/device/cuda/CublasLt.h"
#include "runtime/plan/PlanReader.h"

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace dlrt::cuda {

/// Addresses of a call: those of the plan's a, b, d and c, of the bias and of
/// the workspace.
struct ProductPlaces {
  std::array<Pointer, 4> matrices = {};
  Pointer bias = 0, workspace = 0;
};

/// What the library is asked. Equal questions have one answer, so that equal
/// products have equal bits.
struct ProductQuestion {
  uint64_t batch = 1, m = 0, n = 0, k = 0;
  fb::Arithmetic arithmetic = fb::Arithmetic::F32;
  struct Matrix {
    uint64_t rows = 0, columns = 0, stride = 0, batchStride = 0;
    bool transposed = false;
    uint32_t alignment = 0; ///< bytes that addresses are multiples of
    auto operator<=>(const Matrix &) const = default;
  };
  std::array<Matrix, 4> matrices;
  bool adds = false;          ///< the last of them
  uint32_t biasAlignment = 0; ///< 0: there is no bias
  uint64_t workspaceBytes = 0;

  auto operator<=>(const ProductQuestion &) const = default;
};

/// Descriptions of a product and the algorithm that is used for it.
class Product {
public:
  Product(const lt::Library &library, lt::Handle handle,
          const ProductQuestion &question)
      : library(library), handle(handle), question(question) {}
  Product(const Product &) = delete;
  ~Product();

  /// Describes it and takes the first algorithm that the library proposes of
  /// those that add in a fixed order.
  lt::Status prepare();
  /// `what` is for messages.
  dlrt::Status call(const ProductPlaces &places, Stream stream,
                    const std::string &what) const;

private:
  lt::Status describe();
  lt::Status setBias(uintptr_t address) const;
  lt::Layout added() const { return layouts[question.adds ? 3 : 2]; }
  lt::Status choose();
  bool addsInTurn(const lt::Algorithm &proposed) const;

  const lt::Library &library;
  const lt::Handle handle;
  const ProductQuestion question;
  lt::Description description = nullptr;
  std::array<lt::Layout, 4> layouts = {}; ///< of a, b, d and c
  lt::Algorithm algorithm = {};
};

/// Of all programs of a plan.
class Products {
public:
  Products() = default;
  Products(const Products &) = delete;
  /// To be called in the device's context, too.
  ~Products();

  /// Asks for what the plans have to have multiplied; must be called in the
  /// device's context, and while nothing is captured, for then the library of
  /// CUDA 13.3 does not answer
  /// (https://github.com/mudler/vllm.cpp/issues/1732).
  void prepare(const std::vector<const fb::PlanT *> &plans);

  /// Null where the launch of a kernel is to be run.
  const Product *of(const fb::PlanT &plan, const fb::MultiplyT &product) const;

  /// From here on the kernel is run in place of a product whose first call the
  /// library has refused.
  void giveUp(const Product &product, const Status &why);

  bool isGivenUp(const Product &product) const;

  /// "cuBLASLt 13.1.0", or empty where it computes nothing.
  const std::string &library() const { return name; }
  /// Why kernels are run in its place, if they are.
  const std::vector<std::string> &notes() const { return said; }

private:
  bool start();
  void ask(const ProductQuestion &question, std::string &refusal);

  const lt::Library *opened = nullptr;
  lt::Handle handle = nullptr;
  std::map<ProductQuestion, std::unique_ptr<Product>> known; ///< null: none
  std::string name;
  std::vector<std::unique_ptr<Product>> refused; ///< their calls
  std::vector<std::string> said;
};

} // namespace dlrt::cuda

#endif
