// A formula as the graph of its operations, and that as statements.
#pragma once

#include "compiler/codegen/math/Vec.h"

#include "llvm/ADT/SmallVector.h"
#include <deque>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace dl::formula {

/// Keeps what is emitted, each value once however often a formula asks for it,
/// and writes what results need of it, in the order of the formula. A value has
/// a statement of its own if it is rounded, named or read more than once.
class Recorder : public Emitter {
public:
  Vec parameter(Type type, const char *name);

  /// `  const float r = fmaf(-n, 0x1.62e4p-1f, x);` and so on, all that the
  /// results are made of.
  std::string statements(llvm::ArrayRef<Vec> results);
  /// A result, for a return behind the statements.
  std::string reference(Vec result) const;

  static const char *typeName(Type type);

  Ref number(Type type, double value) override;
  Ref integer(Type type, int64_t value) override;
  Ref emit(Op op, Type type, llvm::ArrayRef<Ref> operands) override;
  void name(Ref value, const char *name) override;

private:
  struct Node {
    Type type;
    std::string text = {}; // of a constant or a parameter
    Op op{};
    llvm::SmallVector<Node *, 3> operands = {};
    const char *hint = nullptr;
    unsigned readers = 0;
    bool isNeeded = false;
    std::string name = {}; // of its statement

    bool isOperation() const { return !operands.empty(); }
  };
  using Key = std::tuple<Op, Type, std::vector<Node *>, std::string>;

  static Node *nodeOf(Vec value) { return static_cast<Node *>(value.ref()); }
  Node *unique(Node node);
  void countReaders(Node *node);
  std::string newName(const Node &node);
  static bool isInlined(const Node &node);
  static std::string read(const Node &node);
  static std::string readNested(const Node &node, Op reader);
  static std::string expression(const Node &node);

  std::deque<Node> nodes;
  std::map<Key, Node *> known;
  std::map<std::string, unsigned> names;
};

} // namespace dl::formula
