import torch
from torch import nn
from torch.autograd import Function
from torch.nn import functional as F


class ReverseGradient(Function):
    @staticmethod
    def forward(ctx, x, alpha):
        ctx.alpha = alpha
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return grad * -ctx.alpha, None


class Swish(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x.sigmoid()

    @staticmethod
    def backward(ctx, grad):
        x, = ctx.saved_tensors
        s = x.sigmoid()
        return grad * (s * (1 + x * (1 - s)))


class Rounded(Function):
    @staticmethod
    def forward(ctx, x):
        y = (x * 8).round() / 8
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad):
        y, = ctx.saved_tensors
        return grad * (1 + y.square())


class Polar(Function):
    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        ranks, largest = x.argmax(1), x.amax(1)
        ctx.mark_non_differentiable(ranks, largest)
        return x * w, ranks, x.square().sum(1), largest

    @staticmethod
    def backward(ctx, product, _, squares, __):
        x, w = ctx.saved_tensors
        return (product * w).tanh() + 2 * x * squares.unsqueeze(1), (product * x).sum(0)


class Both(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y, x.sin() + y

    @staticmethod
    def backward(ctx, product, total):
        x, y = ctx.saved_tensors
        return product * y + total * x.cos(), product * x + total


class Third(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        x.mul_(2)
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad / 3


class Same(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        x, = ctx.saved_tensors
        return grad * x.square()


class Inner(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sin()

    @staticmethod
    def backward(ctx, grad):
        x = ctx.saved_tensors[0].detach().requires_grad_(True)
        with torch.enable_grad():
            return torch.autograd.grad((x.sin() * x * grad).sum(), x)[0]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(6, 9)
        self.fc2 = nn.Linear(9, 9)
        self.label = nn.Linear(9, 3)
        self.domain = nn.Linear(9, 2)
        self.w = nn.Parameter(torch.ones(9))


class Twin:
    def __init__(self):
        self.model = Net()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=2e-3)

    def step(self, x, labels, domains):
        model, grad = self.model, torch.autograd.grad
        h = Swish.apply(model.fc1(x))
        parts = Polar.apply(model.fc2(h), model.w)
        product, total = Both.apply(parts[0], h)
        _, other = Both.apply(product, product)
        features = Swish.apply(total + 0.1 * other) * parts[3].unsqueeze(1)
        loss = F.cross_entropy(model.label(features), labels)
        confusion = F.cross_entropy(model.domain(ReverseGradient.apply(features, 0.3)), domains)

        slope = grad(Swish.apply(h).square().sum(), h, create_graph=True)[0]
        rough = grad(Rounded.apply(h.tanh()).sum(), h, create_graph=True)[0]
        q = h.tanh()
        same = grad(Same.apply(q).sin().sum(), q, create_graph=True)[0]
        penalty = slope.square().mean() + rough.square().mean() + same.square().mean()
        changed, inner = Third.apply(h * 0.5), Inner.apply(h * 0.7)
        ranks = F.one_hot(parts[1], 9).to(x.dtype)

        whole = loss + confusion + 0.1 * penalty + 0.01 * parts[2].mean() + 0.05 * (ranks * h).sum(1).mean() + 0.1 * (changed.square() + inner).mean()
        self.optimizer.zero_grad(set_to_none=True)
        whole.backward()
        self.optimizer.step()
        return {"loss": loss, "confusion": confusion, "penalty": penalty, "radius": parts[2].mean()}
