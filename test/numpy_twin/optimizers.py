"""Optimizers, from PyTorch's documentation."""

import numpy as np


class SGD:
    def __init__(self, lr=1e-3, momentum=0.0, dampening=0.0, weight_decay=0.0, nesterov=False):
        self.lr, self.momentum, self.dampening = lr, momentum, dampening
        self.weight_decay, self.nesterov, self.buffers = weight_decay, nesterov, {}

    def step(self, weights, gradients):
        """Updates the arrays of `weights` by name, in their own dtype."""
        for name, weight in weights.items():
            number = weight.dtype.type
            gradient = gradients[name].astype(weight.dtype)
            if self.weight_decay:
                gradient = gradient + number(self.weight_decay) * weight
            if self.momentum:
                if name in self.buffers:
                    buffer = number(self.momentum) * self.buffers[name] + number(1 - self.dampening) * gradient
                else:  # the first step takes the gradient as it is, without dampening
                    buffer = gradient
                self.buffers[name] = buffer
                gradient = gradient + number(self.momentum) * buffer if self.nesterov else buffer
            weights[name] = np.asarray(weight - number(self.lr) * gradient, weight.dtype)
