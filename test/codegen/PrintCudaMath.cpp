// Prints the CUDA text of all elementary functions, for CudaMathTest.cpp.
#include "compiler/codegen/math/CudaText.h"

#include <cstdio>

using namespace dl::formula;

int main() {
  for (Function function :
       {Function::Exp, Function::Log, Function::Sin, Function::Cos,
        Function::Tanh, Function::Erf, Function::Pow})
    for (bool isDouble : {false, true})
      puts(cudaFunction(function, isDouble).c_str());
  puts(cudaPhilox().c_str());
}
