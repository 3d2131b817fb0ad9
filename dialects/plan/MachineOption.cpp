#include "dialects/plan/MachineOption.h"
#include "llvm/Support/MemoryBuffer.h"

namespace dl::plan {

llvm::Expected<MachineModel> loadMachine(llvm::StringRef path) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!file)
    return llvm::createStringError(file.getError(),
                                   "cannot read " + path + ": " +
                                       file.getError().message());
  return MachineModel::parse((*file)->getBuffer(), path);
}

} // namespace dl::plan

using Parser = llvm::cl::parser<dl::plan::MachineModel>;

bool Parser::parse(Option &option, StringRef, StringRef path,
                   dl::plan::MachineModel &machine) {
  auto loaded = dl::plan::loadMachine(path);
  if (!loaded)
    return option.error(llvm::toString(loaded.takeError()));
  machine = *loaded;
  return false;
}

void Parser::print(raw_ostream &stream, const dl::plan::MachineModel &machine) {
  stream << machine.hash();
}
