// dlrun.h for C++17: handles that close themselves, arrays that know their type
// and size, errors that are thrown.
//
//   dlrun::Model model("digits.plan");
//   model.load_weights("runs/a");
//   dlrun::Step digits = model.step("digits");
//   std::vector<std::uint8_t> pictures = ...;                  // n * 28 * 28
//   dlrun::Tensor scores = digits({pictures})["scores"];       // [n, 10]
//   const float *first = scores.data<float>();
//
//   dlrun::Step train = model.step("train");
//   double loss = train({pictures, labels})["loss"].item();    // one update
#ifndef DLRUN_HPP
#define DLRUN_HPP

#include "dlrun.h"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace dlrun {

class Error : public std::runtime_error {
public:
  Error(dlrun_status status, const std::string &text)
      : std::runtime_error(text), reason(status) {}
  dlrun_status status() const { return reason; }

private:
  dlrun_status reason;
};

namespace detail {
inline void check(dlrun_status status) {
  if (status != DLRUN_OK)
    throw Error(status, dlrun_error());
}

template <class T> constexpr dlrun_dtype dtype() {
  static_assert(std::is_arithmetic_v<T> && sizeof(T) <= 8,
                "numbers of up to 64 bits are wanted");
  if constexpr (std::is_same_v<T, bool>)
    return DLRUN_BOOL;
  else if constexpr (std::is_same_v<T, char>)
    return DLRUN_U8; // text
  else if constexpr (std::is_floating_point_v<T>)
    return sizeof(T) == 4 ? DLRUN_F32 : DLRUN_F64;
  else if constexpr (std::is_signed_v<T>)
    return sizeof(T) == 1   ? DLRUN_I8
           : sizeof(T) == 2 ? DLRUN_I16
           : sizeof(T) == 4 ? DLRUN_I32
                            : DLRUN_I64;
  else
    return sizeof(T) == 1   ? DLRUN_U8
           : sizeof(T) == 2 ? DLRUN_U16
           : sizeof(T) == 4 ? DLRUN_U32
                            : DLRUN_U64;
}

inline std::size_t size_of(dlrun_dtype dtype) {
  switch (dtype) {
  case DLRUN_U8:
  case DLRUN_I8:
  case DLRUN_BOOL:
    return 1;
  case DLRUN_F16:
  case DLRUN_I16:
  case DLRUN_U16:
    return 2;
  case DLRUN_F32:
  case DLRUN_I32:
  case DLRUN_U32:
    return 4;
  case DLRUN_F64:
  case DLRUN_I64:
  case DLRUN_U64:
    break;
  }
  return 8;
}
} // namespace detail

/// Numbers of the caller, all items one behind the other: what has data() and
/// size(), or a pointer and how many. Not copied: make it where it is passed.
class Array : public dlrun_array {
public:
  Array() : dlrun_array{nullptr, 0, DLRUN_F32} {} ///< of an unused input
  template <class T>
  Array(const T *values, std::size_t count)
      : dlrun_array{values, count, detail::dtype<T>()} {}
  template <class Container,
            class = decltype(std::data(std::declval<const Container &>()))>
  Array(const Container &values)
      : Array(std::data(values), std::size(values)) {}
  /// Of a dtype that C++ has no type for.
  Array(const void *values, std::size_t count, dlrun_dtype type)
      : dlrun_array{values, count, type} {}
};

/// Of an input, an output or a state; the shape is that of one item if each has
/// its own.
struct TensorInfo {
  std::string name;
  dlrun_dtype dtype;
  dlrun_role role;
  bool per_item;
  std::vector<std::uint64_t> shape;

  std::size_t elements() const {
    std::size_t count = 1;
    for (std::uint64_t extent : shape)
      count *= static_cast<std::size_t>(extent);
    return count;
  }

  explicit TensorInfo(const dlrun_tensor_info &info)
      : name(info.name), dtype(info.dtype), role(info.role),
        per_item(info.per_item != 0),
        shape(info.shape, info.shape + info.dims) {}
};

/// A result, row-major; the items of a prediction are its first dimension.
class Tensor {
public:
  Tensor(std::string calling, dlrun_dtype type, std::vector<std::uint64_t> dims)
      : called(std::move(calling)), element(type), sizes(std::move(dims)) {
    std::size_t count = 1;
    for (std::uint64_t extent : sizes)
      count *= static_cast<std::size_t>(extent);
    values.resize(count * detail::size_of(element));
  }

  const std::string &name() const { return called; }
  dlrun_dtype dtype() const { return element; }
  const std::vector<std::uint64_t> &shape() const { return sizes; }
  /// Elements of all dimensions.
  std::size_t size() const { return values.size() / detail::size_of(element); }

  /// T must be the tensor's.
  template <class T> const T *data() const {
    if (detail::dtype<T>() != element)
      throw Error(DLRUN_WRONG_USE, "'" + called + "' has another dtype");
    return reinterpret_cast<const T *>(values.data());
  }
  template <class T> T *data() {
    return const_cast<T *>(static_cast<const Tensor *>(this)->data<T>());
  }
  /// A copy.
  template <class T> std::vector<T> to() const {
    return std::vector<T>(data<T>(), data<T>() + size());
  }
  /// The only element of any dtype.
  double item() const {
    if (size() != 1)
      throw Error(DLRUN_WRONG_USE, "'" + called + "' has " +
                                       std::to_string(size()) + " elements");
    switch (element) {
    case DLRUN_F32:
      return static_cast<double>(*data<float>());
    case DLRUN_F64:
      return *data<double>();
    case DLRUN_I64:
      return static_cast<double>(*data<std::int64_t>());
    case DLRUN_I32:
      return *data<std::int32_t>();
    case DLRUN_BOOL:
      return *data<bool>();
    default:
      return *data<std::uint8_t>();
    }
  }
  void *bytes() { return values.data(); }
  const void *bytes() const { return values.data(); }
  std::size_t byte_size() const { return values.size(); }

private:
  std::string called;
  dlrun_dtype element;
  std::vector<std::uint64_t> sizes;
  std::vector<unsigned char> values;
};

/// What a step has returned, by name or in its order.
class Results : public std::vector<Tensor> {
public:
  using std::vector<Tensor>::operator[];
  const Tensor &operator[](const char *name) const {
    std::string have;
    for (const Tensor &tensor : *this) {
      if (tensor.name() == name)
        return tensor;
      have += " '" + tensor.name() + "'";
    }
    throw Error(DLRUN_WRONG_USE, std::string("there is no result '") + name +
                                     "'; there are" + have);
  }
};

struct Options {
  unsigned threads = 0; ///< 0: one per core
  std::uint64_t seed = 0;
  bool flush_denormals = false;
  /// Is told what a user should know.
  std::function<void(const std::string &)> warn = {};
};

namespace detail {
/// Stays where it is, for the sake of `warn`.
struct Held {
  explicit Held(Options given) : wanted(std::move(given)) {}
  Held(const Held &) = delete;
  Held &operator=(const Held &) = delete;
  ~Held() { dlrun_close(model); }

  dlrun_options options() {
    return {sizeof(dlrun_options),
            wanted.threads,
            wanted.seed,
            wanted.flush_denormals,
            wanted.warn ? tell : nullptr,
            this};
  }
  /// What `warn` has thrown goes on behind the call.
  void check(dlrun_status status) {
    if (std::exception_ptr error = std::exchange(thrown, nullptr))
      std::rethrow_exception(error);
    detail::check(status);
  }
  static void tell(void *context, const char *text) {
    Held *self = static_cast<Held *>(context);
    try {
      self->wanted.warn(text);
    } catch (...) {
      self->thrown = std::current_exception();
    }
  }

  Options wanted;
  dlrun_model *model = nullptr;
  std::exception_ptr thrown;
};
} // namespace detail

/// A step of a model, which stays open as long as one of them is there.
class Step {
public:
  /// Runs it on the items of the arrays, which stand in the inputs' order.
  Results operator()(std::initializer_list<Array> arrays) const {
    return run(arrays.begin(), arrays.size());
  }
  Results operator()(const std::vector<Array> &arrays) const {
    return run(arrays.data(), arrays.size());
  }
  /// The same into memory of the caller, in the outputs' order; allocates
  /// nothing of its own.
  void run_into(std::initializer_list<Array> arrays,
                std::initializer_list<dlrun_buffer> results) const {
    detail::check(dlrun_run(held->model, index, arrays.begin(), arrays.size(),
                            items_of(arrays.begin(), arrays.size()),
                            results.begin(), results.size()));
  }

  std::string name() const { return facts.name; }
  dlrun_kind kind() const { return facts.kind; }
  std::size_t batch_size() const { return facts.batch_size; }
  std::size_t update_items() const { return facts.update_items; }
  const std::vector<TensorInfo> &inputs() const { return takes; }
  const std::vector<TensorInfo> &outputs() const { return gives; }

private:
  friend class Model;
  Step(std::shared_ptr<detail::Held> model, std::size_t number)
      : held(std::move(model)), index(number) {
    facts.size = sizeof(facts);
    detail::check(dlrun_get_step(held->model, index, &facts));
    dlrun_tensor_info info = {};
    info.size = sizeof(info);
    for (std::size_t i = 0; i < facts.inputs; ++i) {
      detail::check(dlrun_get_input(held->model, index, i, &info));
      takes.emplace_back(info);
    }
    for (std::size_t i = 0; i < facts.outputs; ++i) {
      detail::check(dlrun_get_output(held->model, index, i, &info));
      gives.emplace_back(info);
    }
  }

  std::size_t items_of(const Array *arrays, std::size_t count) const {
    for (std::size_t i = 0; i < count && i < takes.size(); ++i)
      if (arrays[i].data && takes[i].elements() != 0)
        return arrays[i].elements / takes[i].elements();
    return 0;
  }

  Results run(const Array *arrays, std::size_t count) const {
    std::size_t items = items_of(arrays, count);
    std::vector<dlrun_buffer> buffers;
    Results results;
    for (const TensorInfo &output : gives) {
      std::vector<std::uint64_t> shape = output.shape;
      // Tensors of p.train() are there for full batches only.
      if (kind() == DLRUN_TRAIN && !shape.empty() && items % batch_size()) {
        buffers.push_back({});
        continue;
      }
      if (output.per_item)
        shape.insert(shape.begin(), items);
      results.emplace_back(output.name, output.dtype, std::move(shape));
      buffers.push_back({results.back().bytes(), results.back().byte_size()});
    }
    detail::check(dlrun_run(held->model, index, arrays, count, items,
                            buffers.data(), buffers.size()));
    return results;
  }

  std::shared_ptr<detail::Held> held;
  std::size_t index;
  dlrun_step_info facts = {};
  std::vector<TensorInfo> takes, gives;
};

/// A plan with its weights, on the device that it was compiled for.
class Model {
public:
  explicit Model(const std::string &plan, Options options = {})
      : Model(std::move(options)) {
    const dlrun_options c = held->options();
    held->check(dlrun_open(plan.c_str(), &c, &held->model));
  }
  /// Of a plan in memory, which is copied.
  static Model from_bytes(const void *plan, std::size_t bytes,
                          Options options = {}) {
    Model made(std::move(options));
    const dlrun_options c = made.held->options();
    made.held->check(dlrun_open_bytes(plan, bytes, &c, &made.held->model));
    return made;
  }

  Step step(const std::string &name) const {
    std::size_t index;
    detail::check(dlrun_find_step(held->model, name.c_str(), &index));
    return Step(held, index);
  }
  std::vector<Step> steps() const {
    std::vector<Step> all;
    for (std::size_t i = 0; i < dlrun_step_count(held->model); ++i)
      all.push_back(Step(held, i));
    return all;
  }

  void load_weights(const std::string &path) {
    held->check(dlrun_load_weights(held->model, path.c_str()));
  }
  void save_weights(const std::string &path) const {
    held->check(dlrun_save_weights(held->model, path.c_str()));
  }
  void load_checkpoint(const std::string &path) {
    held->check(dlrun_load_checkpoint(held->model, path.c_str()));
  }
  void save_checkpoint(const std::string &path) const {
    held->check(dlrun_save_checkpoint(held->model, path.c_str()));
  }

  void set(const std::string &setting, double value) {
    detail::check(dlrun_set_setting(held->model, setting.c_str(), value));
  }
  double get(const std::string &setting) const {
    double value = 0;
    detail::check(dlrun_get_setting(held->model, setting.c_str(), &value));
    return value;
  }
  void set_epoch(std::uint64_t epoch) {
    detail::check(dlrun_set_epoch(held->model, epoch));
  }
  std::uint64_t epoch() const { return dlrun_epoch(held->model); }
  std::uint64_t updates() const { return dlrun_updates(held->model); }

  /// Parameters, buffers, and what the optimizer keeps.
  std::vector<TensorInfo> states() const {
    std::vector<TensorInfo> all;
    for (std::size_t i = 0; i < dlrun_state_count(held->model); ++i)
      all.push_back(state(i));
    return all;
  }
  Tensor read(const std::string &name) const {
    TensorInfo info = state_of(name);
    Tensor values(info.name, info.dtype, info.shape);
    detail::check(dlrun_read_state(held->model, name.c_str(), values.bytes(),
                                   values.byte_size()));
    return values;
  }
  /// Of the state's dtype and number of elements.
  void write(const std::string &name, const Array &values) {
    TensorInfo info = state_of(name);
    if (values.dtype != info.dtype || values.elements != info.elements())
      throw Error(DLRUN_WRONG_USE,
                  "'" + name + "' has " + std::to_string(info.elements()) +
                      " elements, " + std::to_string(values.elements) +
                      " are given, or of another dtype");
    detail::check(
        dlrun_write_state(held->model, name.c_str(), values.data,
                          values.elements * detail::size_of(values.dtype)));
  }
  void write(const std::string &name, const Tensor &values) {
    if (values.shape() != state_of(name).shape)
      throw Error(DLRUN_WRONG_USE, "'" + name + "' has another shape");
    write(name, Array(values.bytes(), values.size(), values.dtype()));
  }

  /// For what this header does not show.
  dlrun_model *handle() const { return held->model; }

private:
  explicit Model(Options options)
      : held(std::make_shared<detail::Held>(std::move(options))) {}

  TensorInfo state(std::size_t index) const {
    dlrun_tensor_info info = {};
    info.size = sizeof(info);
    detail::check(dlrun_get_state(held->model, index, &info));
    return TensorInfo(info);
  }
  TensorInfo state_of(const std::string &name) const {
    dlrun_tensor_info info = {};
    info.size = sizeof(info);
    for (std::size_t i = 0; i < dlrun_state_count(held->model); ++i) {
      detail::check(dlrun_get_state(held->model, i, &info));
      if (name == info.name)
        return TensorInfo(info);
    }
    throw Error(DLRUN_WRONG_USE, "the plan has no state '" + name + "'");
  }

  std::shared_ptr<detail::Held> held;
};

} // namespace dlrun

#endif
