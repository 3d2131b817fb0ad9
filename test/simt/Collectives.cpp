// What lanes that have met take with them.
#include "test/simt/Block.h"

#include <bit>

namespace dlsimt {

static float bf16(unsigned bits) { return std::bit_cast<float>(bits << 16); }
/// Tensor cores ignore the low bits of a tf32 operand.
static float tf32(unsigned bits) {
  return std::bit_cast<float>(bits & ~0x1fffu);
}

/// D = A B + D. Products are exact, sums go up in k in f64 and are rounded
/// once; tensor cores align and truncate instead, so that the last bits differ.
static void multiply(Collective kind, Fiber *lanes) {
  auto in = [&](unsigned lane, unsigned word) {
    return lanes[lane].deposit->in[word];
  };
  for (unsigned lane = 0; lane < 32; ++lane) {
    unsigned group = lane / 4, quad = lane % 4;
    for (unsigned half = 0; half < 2; ++half)
      for (unsigned column = 0; column < 2; ++column) {
        unsigned &d = lanes[lane].deposit->out[half * 2 + column];
        double sum = std::bit_cast<float>(d);
        // Which k a lane holds is a matter of the layout; of its sum, only the
        // pairs matter.
        for (unsigned high = 0; high < 2; ++high)
          for (unsigned t = 0; t < 4; ++t) {
            unsigned a = in(group * 4 + t, half + high * 2),
                     b = in((quad * 2 + column) * 4 + t, 4 + high);
            if (kind == Collective::MmaTf32) {
              sum += double(tf32(a)) * tf32(b);
            } else {
              sum += double(bf16(a & 0xffff)) * bf16(b & 0xffff);
              sum += double(bf16(a >> 16)) * bf16(b >> 16);
            }
          }
        d = std::bit_cast<unsigned>(float(sum));
      }
  }
}

static void loadMatrices(bool transposed, Fiber *lanes) {
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned matrix = 0; matrix < 4; ++matrix) {
      auto at = [&](unsigned row, unsigned column) -> unsigned {
        return static_cast<const uint16_t *>(
            lanes[matrix * 8 + row].deposit->pointer)[column];
      };
      unsigned y = lane / 4, x = lane % 4 * 2;
      lanes[lane].deposit->out[matrix] = transposed
                                             ? at(x, y) | at(x + 1, y) << 16
                                             : at(y, x) | at(y, x + 1) << 16;
    }
}

void deliver(Collective kind, unsigned mask, Fiber *lanes) {
  switch (kind) {
  case Collective::SyncWarp:
    return;
  case Collective::ShuffleIndex:
  case Collective::ShuffleXor:
  case Collective::ShuffleDown:
  case Collective::ShuffleUp:
    for (unsigned rest = mask; rest; rest &= rest - 1) {
      Deposit &mine = *lanes[std::countr_zero(rest)].deposit;
      const Deposit &source = *lanes[mine.source].deposit;
      mine.out[0] = source.in[0];
      mine.out[1] = source.in[1];
    }
    return;
  case Collective::Ballot: {
    unsigned votes = 0;
    for (unsigned rest = mask; rest; rest &= rest - 1)
      votes |= lanes[std::countr_zero(rest)].deposit->in[0]
               << std::countr_zero(rest);
    for (unsigned rest = mask; rest; rest &= rest - 1)
      lanes[std::countr_zero(rest)].deposit->out[0] = votes;
    return;
  }
  case Collective::MmaTf32:
  case Collective::MmaBf16:
    return multiply(kind, lanes);
  case Collective::LoadMatrix:
  case Collective::LoadMatrixTransposed:
    return loadMatrices(kind == Collective::LoadMatrixTransposed, lanes);
  }
}

} // namespace dlsimt
