// A machine description as an option of a pass:
//   dl-opt --mark-serial=machine=FILE
#pragma once

#include "dialects/plan/MachineModel.h"
#include "llvm/Support/CommandLine.h"

template <>
class llvm::cl::parser<dl::plan::MachineModel>
    : public llvm::cl::basic_parser<dl::plan::MachineModel> {
public:
  using basic_parser::basic_parser;
  /// Reads the file; true, and a message, where that fails.
  bool parse(Option &option, StringRef name, StringRef path,
             dl::plan::MachineModel &machine);
  static void print(raw_ostream &stream, const dl::plan::MachineModel &machine);
  StringRef getValueName() const override { return "file"; }
  void printOptionDiff(const Option &, const dl::plan::MachineModel &,
                       const OptVal &, size_t) const {}
};

namespace dl::plan {

/// The file's description; errors name it, and the line.
llvm::Expected<MachineModel> loadMachine(llvm::StringRef path);

} // namespace dl::plan
