// dlrun.h for C++17: handles that close themselves, arrays that know their type
// and size, errors that are thrown.
//
//   dlrun::Model model("digits.plan");
//   model.load("runs/a");
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
/// size(), or a pointer and how many. Not copied; must stay during the call.
class Array : public dlrun_array {
public:
  Array() : dlrun_array{nullptr, 0, DLRUN_F32} {} ///< of an unused input
  template <class T>
  Array(const T *data, std::size_t elements)
      : dlrun_array{data, elements, detail::dtype<T>()} {}
  template <class Container,
            class = decltype(std::data(std::declval<const Container &>()))>
  Array(const Container &values)
      : Array(std::data(values), std::size(values)) {}
  /// Of a dtype that C++ has no type for.
  Array(const void *data, std::size_t elements, dlrun_dtype dtype)
      : dlrun_array{data, elements, dtype} {}
};

/// Of an input, an output or a state; the shape is that of one item if each has
/// its own.
struct TensorInfo {
  std::string name;
  dlrun_dtype dtype;
  std::vector<std::uint64_t> shape;
  bool per_item, used;

  std::size_t elements() const {
    std::size_t count = 1;
    for (std::uint64_t size : shape)
      count *= static_cast<std::size_t>(size);
    return count;
  }

  explicit TensorInfo(const dlrun_tensor_info &info)
      : name(info.name), dtype(info.dtype),
        shape(info.shape, info.shape + info.dims), per_item(info.per_item != 0),
        used(info.used != 0) {}
};

/// A result, row-major; the items of a prediction are its first dimension.
class Tensor {
public:
  Tensor(std::string name, dlrun_dtype dtype, std::vector<std::uint64_t> shape)
      : called(std::move(name)), element(dtype), sizes(std::move(shape)) {
    std::size_t count = 1;
    for (std::uint64_t size : sizes)
      count *= static_cast<std::size_t>(size);
    values.resize(count * detail::size_of(dtype));
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

/// A step of a model, which must outlive it.
class Step {
public:
  /// Runs it on the items of the arrays, which stand in the inputs' order.
  Results operator()(std::initializer_list<Array> inputs) const {
    return run(inputs.begin(), inputs.size());
  }
  Results operator()(const std::vector<Array> &inputs) const {
    return run(inputs.data(), inputs.size());
  }

  std::string name() const { return facts.name; }
  dlrun_kind kind() const { return facts.kind; }
  std::size_t batch_size() const { return facts.batch_size; }
  std::size_t update_items() const { return facts.update_items; }
  const std::vector<TensorInfo> &inputs() const { return takes; }
  const std::vector<TensorInfo> &outputs() const { return gives; }

private:
  friend class Model;
  Step(dlrun_model *model, std::size_t index) : model(model), index(index) {
    detail::check(dlrun_step(model, index, &facts));
    dlrun_tensor_info info;
    for (std::size_t i = 0; i < facts.inputs; ++i) {
      detail::check(dlrun_input(model, index, i, &info));
      takes.emplace_back(info);
    }
    for (std::size_t i = 0; i < facts.outputs; ++i) {
      detail::check(dlrun_output(model, index, i, &info));
      gives.emplace_back(info);
    }
  }

  std::size_t items_of(const Array *inputs, std::size_t count) const {
    for (std::size_t i = 0; i < count && i < takes.size(); ++i)
      if (inputs[i].data)
        return inputs[i].elements /
               (takes[i].elements() ? takes[i].elements() : 1);
    return 0;
  }

  Results run(const Array *inputs, std::size_t count) const {
    std::size_t items = items_of(inputs, count);
    std::vector<dlrun_array> arrays(inputs, inputs + count);
    std::vector<dlrun_buffer> buffers;
    Results results;
    for (const TensorInfo &output : gives) {
      std::vector<std::uint64_t> shape = output.shape;
      if (output.per_item)
        shape.insert(shape.begin(), items);
      results.emplace_back(output.name, output.dtype, std::move(shape));
      buffers.push_back({results.back().bytes(), results.back().byte_size()});
    }
    detail::check(dlrun_run(model, index, arrays.data(), arrays.size(), items,
                            buffers.data(), buffers.size()));
    return results;
  }

  dlrun_model *model;
  std::size_t index;
  dlrun_step_info facts;
  std::vector<TensorInfo> takes, gives;
};

struct Options {
  unsigned threads = 0; ///< 0: one per core
  std::uint64_t seed = 0;
  bool flush_denormals = false;
  /// Is told what a user should know.
  std::function<void(const std::string &)> warn = {};
};

/// A plan with its weights, on the device that it was compiled for.
class Model {
public:
  explicit Model(const std::string &plan, Options options = {})
      : held(std::make_unique<Held>(std::move(options))) {
    const dlrun_options c = held->options();
    detail::check(dlrun_open(plan.c_str(), &c, &held->model));
  }
  /// A plan in memory, which is copied.
  Model(const void *plan, std::size_t bytes, Options options = {})
      : held(std::make_unique<Held>(std::move(options))) {
    const dlrun_options c = held->options();
    detail::check(dlrun_open_bytes(plan, bytes, &c, &held->model));
  }

  Step step(const std::string &name) const {
    std::size_t index;
    detail::check(dlrun_find_step(held->model, name.c_str(), &index));
    return Step(held->model, index);
  }
  std::vector<Step> steps() const {
    std::vector<Step> all;
    for (std::size_t i = 0; i < dlrun_step_count(held->model); ++i)
      all.push_back(Step(held->model, i));
    return all;
  }

  void load(const std::string &path) {
    detail::check(dlrun_load(held->model, path.c_str()));
  }
  void save(const std::string &path) const {
    detail::check(dlrun_save(held->model, path.c_str()));
  }
  void load_checkpoint(const std::string &path) {
    detail::check(dlrun_load_checkpoint(held->model, path.c_str()));
  }
  void save_checkpoint(const std::string &path) const {
    detail::check(dlrun_save_checkpoint(held->model, path.c_str()));
  }

  void set(const std::string &setting, double value) {
    detail::check(dlrun_set(held->model, setting.c_str(), value));
  }
  double get(const std::string &setting) const {
    double value = 0;
    detail::check(dlrun_get(held->model, setting.c_str(), &value));
    return value;
  }
  void set_epoch(std::uint64_t epoch) {
    detail::check(dlrun_set_epoch(held->model, epoch));
  }
  std::uint64_t updates() const { return dlrun_updates(held->model); }

  /// Weights, buffers, and what the optimizer keeps.
  std::vector<TensorInfo> states() const {
    std::vector<TensorInfo> all;
    dlrun_tensor_info info;
    for (std::size_t i = 0; i < dlrun_state_count(held->model); ++i) {
      detail::check(dlrun_state(held->model, i, &info));
      all.emplace_back(info);
    }
    return all;
  }
  Tensor read(const std::string &state) const {
    for (const TensorInfo &info : states())
      if (info.name == state) {
        Tensor values(info.name, info.dtype, info.shape);
        detail::check(dlrun_read_state(held->model, state.c_str(),
                                       values.bytes(), values.byte_size()));
        return values;
      }
    throw Error(DLRUN_WRONG_USE, "the plan has no state '" + state + "'");
  }
  void write(const std::string &state, const Tensor &values) {
    detail::check(dlrun_write_state(held->model, state.c_str(), values.bytes(),
                                    values.byte_size()));
  }

  /// For what this header does not show.
  dlrun_model *get() const { return held->model; }

private:
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
    static void tell(void *context, const char *text) {
      static_cast<Held *>(context)->wanted.warn(text);
    }

    Options wanted;
    dlrun_model *model = nullptr;
  };
  std::unique_ptr<Held> held;
};

} // namespace dlrun

#endif
