"""Optimizers, from PyTorch's documentation."""

import numpy as np


class SGD:
    def __init__(self, lr=1e-3, momentum=0.0, dampening=0.0, weight_decay=0.0, nesterov=False, maximize=False):
        self.maximize = maximize
        self.lr, self.momentum, self.dampening = lr, momentum, dampening
        self.weight_decay, self.nesterov, self.buffers = weight_decay, nesterov, {}

    def step(self, weights, gradients):
        """Updates the arrays of `weights` by name, in their own dtype."""
        for name, weight in weights.items():
            number = weight.dtype.type
            gradient = gradients[name].astype(weight.dtype)
            if self.maximize:
                gradient = -gradient
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


class Adam:
    """Adam, and AdamW where `decoupled`."""

    def __init__(self, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, amsgrad=False, maximize=False,
                 decoupled=False):
        self.lr, self.betas, self.eps, self.weight_decay = lr, betas, eps, weight_decay
        self.amsgrad, self.maximize, self.decoupled = amsgrad, maximize, decoupled
        self.slots = {}

    def step(self, weights, gradients):
        """Updates the arrays of `weights` by name, in their own dtype; what depends on the step is f64."""
        for name, weight in weights.items():
            number = weight.dtype.type
            gradient = gradients[name].astype(weight.dtype)
            zero = np.zeros_like(weight)
            t, average, square, largest = self.slots.get(name, (0, zero, zero, zero))
            t += 1
            if self.maximize:
                gradient = -gradient
            if self.decoupled:
                weight = weight * number(1 - self.lr * self.weight_decay)
            elif self.weight_decay:
                gradient = gradient + number(self.weight_decay) * weight
            first, second = self.betas
            average = average * number(first) + number(1 - first) * gradient
            square = square * number(second) + number(1 - second) * gradient * gradient
            largest = np.maximum(largest, square) if self.amsgrad else square
            size, correction = self.lr / (1 - first ** t), np.sqrt(1 - second ** t)
            denominator = np.sqrt(largest) / number(correction) + number(self.eps)
            self.slots[name] = t, average, square, largest
            weights[name] = np.asarray(weight - number(size) * average / denominator, weight.dtype)
