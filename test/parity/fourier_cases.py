"""Complex tensors, Fourier transforms, spectrograms: as op_cases.py has expressions."""


def both(ours, theirs):
    """Of complex values."""
    return f"dl::view_as_real({ours})", f"torch.view_as_real(({theirs}).resolve_conj())"


def complex_of(a="x", b="y"):
    return f"dl::complex({a}, {b})", f"torch.complex({a}, {b})"


C, T_C = complex_of()
D, T_D = complex_of("y", "x * 0.5")
# Of 256 = 16 * 16 and 280 = 14 * 20 elements, more than are transformed at once.
LONG = "(x.reshape(-1).narrow(0, 0, 4).unsqueeze(1) * dl::arange(0.001, 0.257, 0.001).narrow(0, 0, 256))"
T_LONG = "(x.reshape(-1)[:4, None] * torch.arange(0.001, 0.257, 0.001)[:256].to(x))"
WAVE = "(x.reshape(-1).narrow(0, 0, 3).unsqueeze(1) * dl::arange(280) * 0.01).sin()"
T_WAVE = "(x.reshape(-1)[:3, None] * torch.arange(280).to(x) * 0.01).sin()"

FOURIER = [
    both(f"{C} * {D}", f"{T_C} * {T_D}"), both(f"{C} / {D} - {D}", f"{T_C} / {T_D} - {T_D}"),
    both(f"2.0 - {C} * y + x / {D}", f"2.0 - {T_C} * y + x / {T_D}"), both(f"(1.0 / {C}).conj()", f"(1.0 / {T_C}).conj()"),
    both(f"-{C}.exp() + y", f"-{T_C}.exp() + y"), both("dl::polar(x.exp(), y)", "torch.polar(x.exp(), y)"),
    (f"dl::abs({C}) + {C}.angle()", f"{T_C}.abs() + {T_C}.angle()"),
    ("dl::complex(dl::relu(x), dl::relu(y)).abs()", "torch.complex(torch.relu(x), torch.relu(y)).abs()"),
    both(f"{C}.transpose(0, 2).permute({{1, 0, 2}}).narrow(1, 1, 2).sum({{0, 2}})", f"{T_C}.transpose(0, 2).permute(1, 0, 2).narrow(1, 1, 2).sum((0, 2))"),
    both("dl::view_as_complex(x.unflatten(2, {3, 2})).mean(1).roll(1, 1)", "torch.view_as_complex(x.unflatten(2, (3, 2))).mean(1).roll(1, 1)"),
    both(f"dl::einsum(\"abc,adc->bd\", {C}, {D})", f"torch.einsum('abc,adc->bd', {T_C}, {T_D})"),
    both(f"dl::einsum(\"abc,c->ab\", {C}, x[0, 0])", f"torch.einsum('abc,c->ab', {T_C}, torch.complex(x[0, 0], x[0, 0] * 0))"),
    both(f"dl::matmul({C}, {D}.transpose(1, 2))", f"torch.matmul({T_C}, {T_D}.transpose(1, 2))"),
    both(f"dl::cat({{{C}, {D}}}, 1)[0, dl::Slice(2, 4)]", f"torch.cat(({T_C}, {T_D}), 1)[0, 2:4]"),
    both(f"dl::stack({{{C}, {D}}}, 1).reshape({{-1}})", f"torch.stack(({T_C}, {T_D}), 1).reshape(-1)"),
    both("[&] { auto c = dl::zeros({3, 4, 6}, {.dtype = dl::cfloat}); c[0, dl::Slice(1, 3)] = dl::complex(x, y)[1, dl::Slice(0, 2)]; return c; }()",
         "torch.cat([torch.cat([torch.zeros(1, 6), torch.complex(x, y)[1, :2], torch.zeros(1, 6)])[None], torch.zeros(2, 4, 6)])"),
    both("[&] { auto r = x * 1, i = y * 1; auto c = dl::complex(r, i); r += 1; i.zero_(); c *= 2.0; c -= dl::complex(y, x); return c * r; }()", "(torch.complex(x, y) * 2 - torch.complex(y, x)) * (x + 1)"),
    both("[&] { auto c = dl::complex(x, y); c[dl::Slice(), dl::Slice(0, 2)] += dl::complex(y, x)[dl::Slice(), dl::Slice(1, 3)]; auto d = c; d *= 0.5; c[0] /= dl::complex(y, x)[1]; return c; }()",
         "(lambda c, o: torch.cat([(c * 0.5)[:1] / o[1:2], (c * 0.5)[1:]]))(torch.cat([torch.complex(x, y)[:, :2] + torch.complex(y, x)[:, 1:3], torch.complex(x, y)[:, 2:]], 1), torch.complex(y, x))"),
    both(f"{C}.pow(3)", f"{T_C}.pow(3)"), both(f"{C}.pow(2) + {C}.pow(1.5) + {C}.sqrt() - {D}.log()", f"{T_C}.pow(2) + {T_C}.pow(1.5) + {T_C}.sqrt() - {T_D}.log()"),
    both(f"dl::where(x > 0, {C}, {D}).flip({{1, 2}}).roll({{1, 2}}, {{0, 1}}).unflatten(2, {{2, 3}})", f"torch.where(x > 0, {T_C}, {T_D}).flip(1, 2).roll((1, 2), (0, 1)).unflatten(2, (2, 3))"),
    both(f"dl::matmul({C}, x.transpose(1, 2))", f"torch.matmul({T_C}, torch.complex(x, x * 0).transpose(1, 2))"),
    both(f"F::pad({C}, {{1, 2}})", f"F.pad({T_C}, (1, 2))"),
    # Transforms: even and odd, of part of the elements or more, of any dim and norm.
    both("dl::fft::rfft(x)", "torch.fft.rfft(x)"), both("dl::fft::rfft(x, {.dim = 1, .norm = \"ortho\"})", "torch.fft.rfft(x, dim=1, norm='ortho')"),
    both("dl::fft::rfft(y, 5)", "torch.fft.rfft(y, 5)"), both("dl::fft::rfft(x, 9, 0, \"forward\")", "torch.fft.rfft(x, 9, 0, 'forward')"),
    both("dl::fft::fft(x)", "torch.fft.fft(x)"), both(f"dl::fft::fft({C}, {{.n = 7, .dim = 1}})", f"torch.fft.fft({T_C}, 7, 1)"),
    both(f"dl::fft::ifft({C})", f"torch.fft.ifft({T_C})"), both(f"dl::fft::ifft({C}, 4, 2, \"forward\")", f"torch.fft.ifft({T_C}, 4, 2, 'forward')"),
    (f"dl::fft::irfft({C})", f"torch.fft.irfft({T_C})"), (f"dl::fft::irfft({C}, 7)", f"torch.fft.irfft({T_C}, 7)"),
    (f"dl::fft::irfft({C}, 8, 1, \"ortho\")", f"torch.fft.irfft({T_C}, 8, 1, 'ortho')"), (f"dl::fft::irfft({C}, 1)", f"torch.fft.irfft({T_C}, 1)"),
    both("dl::fft::rfft2(x)", "torch.fft.rfft2(x)"), both("dl::fft::rfft2(x, {3, 7})", "torch.fft.rfft2(x, (3, 7))"), both("dl::fft::ifft(x)", "torch.fft.ifft(x)"), both("dl::fft::ifft(x, 5, 1)", "torch.fft.ifft(x, 5, 1)"), both("dl::fft::fft2(x, {.s = {3, 4}, .dim = {0, 2}})", "torch.fft.fft2(x, (3, 4), (0, 2))"),
    both(f"dl::fft::ifft2({C}, {{.norm = \"ortho\"}})", f"torch.fft.ifft2({T_C}, norm='ortho')"), both("dl::fft::fftn(x)", "torch.fft.fftn(x)"),
    (f"dl::fft::irfft2({C}, {{.s = {{4, 5}}}})", f"torch.fft.irfft2({T_C}, (4, 5))"), (f"dl::fft::irfftn({C})", f"torch.fft.irfftn({T_C})"),
    ("dl::fft::irfft(dl::fft::rfft(x) * dl::fft::rfft(y), x.size(-1))", "torch.fft.irfft(torch.fft.rfft(x) * torch.fft.rfft(y), x.size(-1))"),
    # In two steps.
    both(f"dl::fft::rfft({LONG})", f"torch.fft.rfft({T_LONG})"), both(f"dl::fft::fft({LONG}.t(), {{.n = 280, .dim = 0}})", f"torch.fft.fft({T_LONG}.t(), 280, 0)"),
    (f"dl::fft::irfft(dl::fft::rfft({WAVE}) * dl::fft::rfft({WAVE} + 0.3), 280)", f"torch.fft.irfft(torch.fft.rfft({T_WAVE}) * torch.fft.rfft({T_WAVE} + 0.3), 280)"),
    (f"dl::fft::ifft(dl::fft::fft({WAVE}, {{.dim = 1}}) * dl::polar(dl::ones({{280}}), dl::arange(280) * 0.1), {{.norm = \"ortho\"}}).imag",
     f"torch.fft.ifft(torch.fft.fft({T_WAVE}, dim=1) * torch.polar(torch.ones(280).to(x), torch.arange(280).to(x) * 0.1), norm='ortho').imag"),
    (f"dl::fft::irfft(dl::fft::rfft({WAVE}).narrow(1, 0, 20), 401)", f"torch.fft.irfft(torch.fft.rfft({T_WAVE})[:, :20], 401)"),
    (f"dl::fft::irfft(dl::fft::rfft({WAVE}, 405), 405)", f"torch.fft.irfft(torch.fft.rfft({T_WAVE}, 405), 405)"),
    # In three.
    both(f"dl::fft::rfft({WAVE} * 0.01, 4096)", f"torch.fft.rfft({T_WAVE} * 0.01, 4096)"),
    (f"dl::fft::irfft(dl::fft::rfft({WAVE}) * 0.1, 4096)", f"torch.fft.irfft(torch.fft.rfft({T_WAVE}) * 0.1, 4096)"),
    both(f"dl::fft::ifft(dl::fft::fft({WAVE}) * 0.1, 5120)", f"torch.fft.ifft(torch.fft.fft({T_WAVE}) * 0.1, 5120)"),
    ("dl::fft::fftfreq(7, 0.5)", "torch.fft.fftfreq(7, 0.5)"), ("dl::fft::fftfreq(8)", "torch.fft.fftfreq(8)"),
    ("dl::fft::rfftfreq(9, 2.0)", "torch.fft.rfftfreq(9, 2.0)"), ("dl::fft::fftshift(x)", "torch.fft.fftshift(x)"),
    ("dl::fft::ifftshift(x, 1)", "torch.fft.ifftshift(x, 1)"),
    # Spectrograms.
    ("dl::hann_window(7) + dl::hann_window(7, false)", "torch.hann_window(7) + torch.hann_window(7, False)"),
    ("dl::hamming_window(8) * dl::blackman_window(8)", "torch.hamming_window(8) * torch.blackman_window(8)"),
    both(f"dl::stft({WAVE}, 16, {{.window = dl::hann_window(16)}})", f"torch.stft({T_WAVE}, 16, window=torch.hann_window(16).to(x), return_complex=True)"),
    both(f"dl::stft({WAVE}[0], 20, {{.hop_length = 7, .win_length = 13, .window = dl::hamming_window(13), .center = false, .normalized = true}})",
         f"torch.stft({T_WAVE}[0], 20, 7, 13, torch.hamming_window(13).to(x), center=False, normalized=True, return_complex=True)"),
    both(f"dl::stft({WAVE}, 9, {{.hop_length = 4, .pad_mode = \"constant\", .onesided = false}})",
         f"torch.stft({T_WAVE}, 9, 4, pad_mode='constant', onesided=False, return_complex=True)"),
    (f"dl::istft(dl::stft({WAVE}, 16, {{.window = dl::hann_window(16)}}) * 2.0, 16, {{.window = dl::hann_window(16)}})",
     f"torch.istft(torch.stft({T_WAVE}, 16, window=torch.hann_window(16).to(x), return_complex=True) * 2.0, 16, window=torch.hann_window(16).to(x))"),
    (f"dl::istft(dl::stft({WAVE}, 20, {{.hop_length = 7, .normalized = true}}), 20, {{.hop_length = 7, .normalized = true, .length = 270}})",
     f"torch.istft(torch.stft({T_WAVE}, 20, 7, normalized=True, return_complex=True), 20, 7, normalized=True, length=270)"),
]
