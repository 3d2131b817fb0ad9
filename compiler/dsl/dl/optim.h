#pragma once
// torch.optim. An optimizer is the op it applies to each parameter, with the
// tensors it keeps between steps.
#include "module.h"

namespace dl::optim {

class Optimizer {
protected:
  int id = -1;

  explicit Optimizer(const nn::ParameterList &parameters) {
    int *ids = new int[parameters.size() + 1];
    int count = 0;
    for (const Parameter &parameter : parameters)
      ids[count++] = parameter.id;
    id = dl_optimizer(ids, count);
    delete[] ids;
  }
  explicit Optimizer(list<Parameter> parameters) {
    int *ids = new int[parameters.size() + 1];
    int count = 0;
    for (const Parameter &parameter : parameters)
      ids[count++] = parameter.id;
    id = dl_optimizer(ids, count);
    delete[] ids;
  }
  void apply(const char *op, list<const char *> slots,
             list<detail::Attr> attributes) {
    dl_optimizer_step(id, op, slots.begin(), static_cast<int>(slots.size()),
                      attributes.begin(), static_cast<int>(attributes.size()));
  }

public:
  void zero_grad() { dl_optimizer_zero_grad(id); }
};

struct SGDOptions {
  double lr = 1e-3, momentum = 0, dampening = 0, weight_decay = 0;
  bool nesterov = false, maximize = false;
};

class SGD : public Optimizer {
  SGDOptions options;

  void check() {
    if (!(options.lr >= 0))
      detail::fail("SGD: lr = {} is negative", options.lr);
    if (!(options.momentum >= 0))
      detail::fail("SGD: momentum = {} is negative", options.momentum);
    if (!(options.weight_decay >= 0))
      detail::fail("SGD: weight_decay = {} is negative", options.weight_decay);
    if (options.nesterov && (options.momentum <= 0 || options.dampening != 0))
      detail::fail("SGD: nesterov needs a momentum and zero dampening");
    if (options.maximize)
      detail::unsupported("SGD: maximize: not in this version");
  }

public:
  explicit SGD(const nn::ParameterList &parameters,
               const SGDOptions &options = {})
      : Optimizer(parameters), options(options) {
    check();
  }
  explicit SGD(list<Parameter> parameters, const SGDOptions &options = {})
      : Optimizer(parameters), options(options) {
    check();
  }

  void step() {
    list<const char *> none, buffer = {"momentum_buffer"};
    apply("sgd", options.momentum != 0 ? buffer : none,
          {{"lr", options.lr},
           {"momentum", options.momentum},
           {"dampening", options.dampening},
           {"weight_decay", options.weight_decay},
           {"nesterov", options.nesterov}});
  }
};

} // namespace dl::optim
