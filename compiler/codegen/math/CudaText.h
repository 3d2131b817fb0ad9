// Formulas as CUDA C++.
#pragma once

#include "compiler/codegen/math/Functions.h"

#include <string>

namespace dl::formula {

enum class Function : uint8_t { Exp, Log, Sin, Cos, Tanh, Erf, Pow };

/// Its name in CUDA text: dl_exp_f32.
std::string cudaName(Function function, bool isDouble);

/// Its definition, `float dl_exp_f32(float x)`, for the device. It names
/// nothing but CUDA's own fma, floor, fabs, bit casts such as __float_as_uint,
/// and one of its locals after the other. Where no compiler contracts
/// multiplications and additions by itself (--fmad=false, -ffp-contract=off) it
/// gives the bits that every other target gives.
std::string cudaFunction(Function function, bool isDouble);

/// philox() of Functions.h:
/// `dl_philox_words dl_philox(unsigned long long counter, ... seed, ... step,
/// ... micro, ... key)`, its result, a struct of word0 to word3, all unsigned
/// int, and `unsigned int dl_philox_word(dl_philox_words words, unsigned int
/// number)`, the word number % 4.
std::string cudaPhilox();

} // namespace dl::formula
