#pragma once
// Where in the user's files a call comes from: program counters, resolved with
// the debug information of the JIT's object.
#include "compiler/frontend/Message.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include <memory>
#include <optional>

namespace dl::frontend {

using ProgramCounters = llvm::SmallVector<void *, 64>;

class CallStack {
public:
  /// Files below one of `foreignFolders` are not the user's: our headers, the
  /// standard library.
  explicit CallStack(std::vector<std::string> foreignFolders);
  ~CallStack();

  /// The return addresses of the callers; cheap.
  static ProgramCounters capture();

  /// The frames that lie in the user's files, innermost first.
  std::vector<Frame> userFrames(llvm::ArrayRef<void *> counters);
  std::vector<Frame> userFrames() { return userFrames(capture()); }

private:
  struct Object;
  void loadObjects();
  const Frame *resolve(void *counter);

  std::vector<std::string> foreignFolders;
  std::vector<std::unique_ptr<Object>> objects;
  const void *lastEntry = nullptr;
  llvm::DenseMap<void *, std::unique_ptr<Frame>> known; // null: not the user's
};

} // namespace dl::frontend
