"""What a training loop may have, for test_trainings.py: each part adds lines at some places of a program, in C++ and in Python. At `%(z)s` stands a
number that is drawn."""


def part(name, chance, excludes=(), **code):
    return {"name": name, "chance": chance, "not": excludes, "code": code}


LAYERS = ("conv", "gru", "lstm", "attention")
PARTS = [
    # Layers in front of the body.
    part("conv", 0.2, members=("nn::Conv2d conv{2, 4, 2, {.padding = 1}};\nnn::GroupNorm gn{2, 4};\nnn::Conv1d down{4, 4, 3, {.stride = 2, .padding = 1}};",
                               "s.conv, s.gn, s.down = nn.Conv2d(2, 4, 2, padding=1), nn.GroupNorm(2, 4), nn.Conv1d(4, 4, 3, stride=2, padding=1)"),
         hidden=("h = h + F::max_pool1d(down(F::relu(gn(conv(x.view({n, 2, 1, 3})))).flatten(2)), 2).flatten(1);",
                 "h = h + F.max_pool1d(s.down(F.relu(s.gn(s.conv(x.view(n, 2, 1, 3)))).flatten(2)), 2).flatten(1)")),
    part("gru", 0.2, LAYERS, members=("nn::GRU rnn{2, 8, {.batch_first = true}};", "s.rnn = nn.GRU(2, 8, batch_first=True)"),
         hidden=("auto [sequence, last] = rnn(x.view({n, 3, 2}));\nh = h + sequence[dl::Slice(), -1];", "h = h + s.rnn(x.view(n, 3, 2))[0][:, -1]")),
    part("lstm", 0.2, LAYERS, members=("nn::LSTM rnn{3, 8, {.batch_first = true}};", "s.rnn = nn.LSTM(3, 8, batch_first=True)"),
         hidden=("auto [sequence, state] = rnn(x.view({n, 2, 3}));\nh = h + sequence.mean(1);", "h = h + s.rnn(x.view(n, 2, 3))[0].mean(1)")),
    part("attention", 0.2, LAYERS, members=("nn::Linear q{2, 8}, k{2, 8, {.bias = false}}, v{2, 8};", "s.q, s.k, s.v = nn.Linear(2, 8), nn.Linear(2, 8, bias=False), nn.Linear(2, 8)"),
         hidden=("auto z = x.view({n, 3, 2});\nauto heads = [&](dl::Tensor u) { return u.view({n, 3, 2, 4}).transpose(1, 2); };\n"
                 "h = h + F::scaled_dot_product_attention(heads(q(z)), heads(k(z)), heads(v(z)), {.is_causal = true}).transpose(1, 2).reshape({n, 3, 8}).mean(1);",
                 "z = x.view(n, 3, 2)\nheads = lambda u: u.view(n, 3, 2, 4).transpose(1, 2)\n"
                 "scores = (heads(s.q(z)) @ heads(s.k(z)).transpose(-2, -1) / 2).masked_fill(torch.ones(3, 3).triu(1) == 1, -float('inf'))\n"
                 "h = h + (scores.softmax(-1) @ heads(s.v(z))).transpose(1, 2).reshape(n, 3, 8).mean(1)")),
    # (It takes away what is the same for all items: a bias right in front has no gradient, and any rounding is one.)
    part("batch_norm", 0.35, ("conv", "attention"), members=("nn::BatchNorm1d bn{8};", "s.bn = nn.BatchNorm1d(8)"), hidden=("h = bn(h);", "h = s.bn(h)")),
    part("layer_norm", 0.3, members=("nn::LayerNorm ln{8};", "s.ln = nn.LayerNorm(8)"), hidden=("h = ln(h);", "h = s.ln(h)")),
    part("tied", 0.3, output=("y = y + %(z)s * dl::matmul(h, a.weight)[dl::Slice(), dl::Slice(0, 3)];", "y = y + %(z)s * (h @ s.a.weight)[:, :3]")),
    # States.
    part("frozen", 0.2, before=("net.emb.weight.requires_grad_(false);\nnet.b.requires_grad_(false);", "net.emb.weight.requires_grad_(False); net.b.requires_grad_(False)")),
    part("buffer", 0.25, members=("dl::Buffer seen = dl::zeros({6});", "s.register_buffer('seen', torch.zeros(6))"),
         loss=("{\n  dl::NoGradGuard no_grad;\n  net.seen = net.seen * 0.9 + x.mean(0) * 0.1;\n}\nloss = loss + (out.mean() * net.seen.sum()).square();",
               "with torch.no_grad(): net.seen.copy_(net.seen * 0.9 + x.mean(0) * 0.1)\nloss = loss + (out.mean() * net.seen.clone().sum()).square()")),
    part("teacher", 0.25, before=("Net target;", "target = Net()"),
         loss=("dl::Tensor aim;\n{\n  dl::NoGradGuard no_grad;\n  aim = target(x, t);\n}\nloss = loss + %(z)s * F::mse_loss(out, aim + 0.1);",
               "with torch.no_grad(): aim = target(x, t)\nloss = loss + %(z)s * F.mse_loss(out, aim + 0.1)"),
         after=("for (auto [old, now] : dl::zip(target.parameters(), net.parameters())) old.data().lerp_(now.data(), %(z)s);",
                "with torch.no_grad():\n    for old, now in zip(target.parameters(), net.parameters()): old.lerp_(now, %(z)s)")),
    part("copied_at_times", 0.25, ("teacher",), before=("Net target;", "target = Net()"),
         loss=("loss = loss + %(z)s * F::smooth_l1_loss(out, target(x, t).detach() + 0.1);", "loss = loss + %(z)s * F.smooth_l1_loss(out, target(x, t).detach() + 0.1)"),
         after=("for (auto [old, now] : dl::zip(target.parameters(), net.parameters())) old.data().copy_(dl::where(p.step() %% 3 == 2, now.data(), old.data()));",
                "with torch.no_grad():\n    for old, now in zip(target.parameters(), net.parameters()): old.copy_(now if i %% 3 == 2 else old)")),
    # (Its buffers are those of the model since PyTorch 2.)
    part("averaged", 0.3, ("buffer", "batch_norm"), before=("Net mean;\ndl::optim::swa_utils::AveragedModel averaged(mean, net);", "averaged = swa.AveragedModel(net); mean = averaged.module"),
         after=("averaged.update_parameters(net);", "averaged.update_parameters(net)")),
    # Losses.
    part("function", 0.2, types=("struct Soft : dl::autograd::Function<Soft> {\n"
                                 "  static dl::Tensor forward(dl::autograd::AutogradContext *ctx, dl::Tensor x) {\n    ctx->save_for_backward({x});\n    return x.clamp(-1, 1);\n  }\n"
                                 "  static dl::autograd::tensor_list backward(dl::autograd::AutogradContext *ctx, dl::autograd::tensor_list g) {\n"
                                 "    return {g[0] * (0.5 + ctx->get_saved_variables()[0].tanh().square())};\n  }\n};",
                                 "class Soft(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        ctx.save_for_backward(x)\n        return x.clamp(-1, 1)\n"
                                 "    @staticmethod\n    def backward(ctx, g):\n        return g * (0.5 + ctx.saved_tensors[0].tanh().square())"),
         loss=("loss = loss + %(z)s * Soft::apply(out).sum();", "loss = loss + %(z)s * Soft.apply(out).sum()")),
    part("penalty", 0.25, loss=("auto px = x.clone().requires_grad_();\nauto slope = dl::autograd::grad(net(px, t).sum(), px, {.create_graph = true})[0];\n"
                                "loss = loss + %(z)s * (slope.square().sum(1).add(1e-6).sqrt() - 1).square().mean();",
                                "px = x.clone().requires_grad_()\nslope = torch.autograd.grad(net(px, t).sum(), px, create_graph=True)[0]\n"
                                "loss = loss + %(z)s * (slope.square().sum(1).add(1e-6).sqrt() - 1).square().mean()")),
    part("inner_step", 0.25, loss=("auto inner = F::mse_loss(F::linear(x, net.a.weight).mean(1), y.mean(1));\n"
                                   "auto inner_grad = dl::autograd::grad(inner, {net.a.weight}, {.create_graph = true})[0];\n"
                                   "loss = loss + 0.3 * F::linear(x, net.a.weight - %(z)s * inner_grad).square().mean();",
                                   "inner = F.mse_loss(F.linear(x, net.a.weight).mean(1), y.mean(1))\n"
                                   "inner_grad = torch.autograd.grad(inner, [net.a.weight], create_graph=True)[0]\n"
                                   "loss = loss + 0.3 * F.linear(x, net.a.weight - %(z)s * inner_grad).square().mean()")),
    part("critic", 0.25, types=("struct Critic : nn::Module {\n  nn::Linear d{3, 4}, e{4, 1};\n  dl::Tensor forward(dl::Tensor x) { return e(dl::tanh(d(x))); }\n};",
                                "class Critic(nn.Module):\n    def __init__(s):\n        super().__init__()\n        s.d, s.e = nn.Linear(3, 4), nn.Linear(4, 1)\n"
                                "    def forward(s, x): return s.e(torch.tanh(s.d(x)))"),
         before=("Critic critic;\ndl::optim::Adam other(critic.parameters(), {.lr = 0.01});", "critic = Critic(); other = torch.optim.Adam(critic.parameters(), lr=0.01)"),
         loss=("loss = loss + %(z)s * critic(out).mean();", "loss = loss + %(z)s * critic(out).mean()"),
         after=("auto apart = F::softplus(critic(out.detach())).mean() + F::softplus(-critic(y)).mean();\nother.zero_grad();\napart.backward();\nother.step();",
                "apart = F.softplus(critic(out.detach())).mean() + F.softplus(-critic(y)).mean()\nother.zero_grad()\napart.backward()\nother.step()")),
    # Gradients.
    part("twice", 0.25, backward=("(loss * 0.5).backward({.retain_graph = true});\n(loss * 0.25 + out.abs().mean() * 0.1).backward();",
                                  "(loss * 0.5).backward(retain_graph=True)\n(loss * 0.25 + out.abs().mean() * 0.1).backward()")),
    part("scaled", 0.2, gradients=("net.c.weight.grad() *= %(z)s;", "net.c.weight.grad *= %(z)s")),
    part("signs", 0.1, gradients=("net.c.bias.grad() = net.c.bias.grad().sign() * 0.01;", "net.c.bias.grad = net.c.bias.grad.sign() * 0.01")),
    part("norm", 0.2, gradients=("nn::utils::clip_grad_norm_(net.parameters(), %(z)s);", "nn.utils.clip_grad_norm_(net.parameters(), %(z)s)")),
    part("norm_of_some", 0.15, ("norm",), gradients=("nn::utils::clip_grad_norm_(net.c.parameters(), %(z)s, {.norm_type = dl::inf});",
                                                     "nn.utils.clip_grad_norm_(net.c.parameters(), %(z)s, float('inf'))")),
    part("value", 0.2, ("norm", "norm_of_some"), gradients=("nn::utils::clip_grad_value_(net.parameters(), %(z)s);", "nn.utils.clip_grad_value_(net.parameters(), %(z)s)")),
    # Behind the update.
    part("clamped", 0.2, after=("{\n  dl::NoGradGuard no_grad;\n  net.c.weight.clamp_(-%(z)s, %(z)s);\n}", "with torch.no_grad(): net.c.weight.clamp_(-%(z)s, %(z)s)")),
]

# Options: how often they are given, and what.
RATE = {"lr": (1, lambda number: number(0.005, 0.05))}
DECAY = {"weight_decay": (0.5, lambda number: number(0.001, 0.1))}
BETAS = {"betas": (0.5, lambda number: (number(0.5, 0.95), number(0.8, 0.999)))}
# (NAdam is another one in PyTorch 1.13: test_schedules.py has it.)
OPTIMIZERS = [
    ("SGD", {**RATE, "momentum": (1, lambda number: number(0.3, 0.95)), **DECAY, "nesterov": (0.5, lambda number: True)}),
    ("SGD", {**RATE, "momentum": (0.7, lambda number: number(0.3, 0.95)), "dampening": (0.5, lambda number: number(0.1, 0.5)), **DECAY}),
    ("Adam", {**RATE, **BETAS, **DECAY, "amsgrad": (0.5, lambda number: True)}),
    ("AdamW", {**RATE, **BETAS, "eps": (0.3, lambda number: 1e-4), **DECAY, "amsgrad": (0.5, lambda number: True)}),
    ("RMSprop", {**RATE, "alpha": (0.5, lambda number: number(0.7, 0.99)), **DECAY, "momentum": (0.5, lambda number: number(0.3, 0.9)),
                 "centered": (0.5, lambda number: True)}),
    ("Adagrad", {**RATE, "lr_decay": (0.5, lambda number: number(0.01, 0.1)), **DECAY, "initial_accumulator_value": (0.5, lambda number: number(0.01, 0.1))}),
    ("Adadelta", {"lr": (1, lambda number: number(0.3, 1)), "rho": (0.5, lambda number: number(0.7, 0.95)), **DECAY}),
    ("Adamax", {**RATE, **BETAS, **DECAY}),
    ("RAdam", {**RATE, **BETAS, **DECAY}),
    ("ASGD", {**RATE, **DECAY}),
    ("Rprop", RATE),
]


def simple(name, here, there):
    """With %d, %s a whole number and two others."""
    def made(number, draw):
        values = {"n": draw.randint(2, 6), "u": number(0.3, 0.9), "v": number(0.2, 1)}
        return f"S::{name} schedule(opt, {here % values});", f"schedule = Sched.{name}(opt, {there % values})"
    return made


def in_turn(number, draw):
    values = (number(0.1, 0.9), draw.randint(2, 6), number(0.7, 0.99), draw.randint(2, 6))
    return ("S::LinearLR first(opt, {.start_factor = %s, .total_iters = %d});\n  S::ExponentialLR second(opt, %s);\n"
            "  S::SequentialLR schedule(opt, {first, second}, {%d});" % values,
            "schedule = Sched.SequentialLR(opt, [Sched.LinearLR(opt, %s, total_iters=%d), Sched.ExponentialLR(opt, %s)], [%d])" % values)


def together(number, draw):
    values = (number(0.1, 0.9), draw.randint(2, 6), draw.randint(2, 4), number(0.5, 0.9))
    return ("S::ConstantLR first(opt, {.factor = %s, .total_iters = %d});\n  S::StepLR second(opt, %d, {.gamma = %s});\n"
            "  S::ChainedScheduler schedule({first, second});" % values,
            "schedule = Sched.ChainedScheduler([Sched.ConstantLR(opt, %s, %d), Sched.StepLR(opt, %d, %s)])" % values)


SCHEDULERS = [
    lambda number, draw: ("", ""),
    lambda number, draw: ("", ""),
    simple("StepLR", "%(n)d, {.gamma = %(u)s}", "%(n)d, %(u)s"),
    simple("MultiStepLR", "{%(n)d, 7, 9}, {.gamma = %(u)s}", "[%(n)d, 7, 9], %(u)s"),
    simple("ExponentialLR", "%(u)s", "%(u)s"),
    simple("CosineAnnealingLR", "%(n)d, {.eta_min = 1e-3}", "%(n)d, 1e-3"),
    simple("CosineAnnealingWarmRestarts", "%(n)d, {.T_mult = 2}", "%(n)d, 2"),
    simple("LinearLR", "{.start_factor = %(u)s, .end_factor = %(v)s, .total_iters = %(n)d}", "%(u)s, %(v)s, %(n)d"),
    simple("PolynomialLR", "{.total_iters = 1%(n)d, .power = %(v)s}", "1%(n)d, %(v)s"),
    simple("LambdaLR", "[](dl::Scalar t) { return dl::minimum((t + 1) / %(n)d, 1); }", "lambda t: min((t + 1) / %(n)d, 1)"),
    simple("MultiplicativeLR", "[](dl::Scalar) { return %(u)s; }", "lambda t: %(u)s"),
    simple("OneCycleLR", "0.05, {.total_steps = 20, .cycle_momentum = false}", "0.05, total_steps=20, cycle_momentum=False"),
    simple("CyclicLR", "0.01, 0.05, {.step_size_up = %(n)d, .cycle_momentum = false}", "0.01, 0.05, %(n)d, cycle_momentum=False"),
    in_turn,
    together,
]
