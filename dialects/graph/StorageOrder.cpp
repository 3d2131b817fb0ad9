#include "dialects/graph/StorageOrder.h"
#include "dialects/graph/Graph.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace dl::graph {

static constexpr llvm::StringLiteral kOrders = "graph.orders";

Value rootOf(Value value) {
  while (auto alias = value.getDefiningOp<AliasOpInterface>())
    value = alias.getViewed();
  return value;
}

DenseI64ArrayAttr storageOrder(OpResult value) {
  auto kernel = dyn_cast<KernelOp>(value.getOwner());
  auto orders = kernel ? kernel.getResultLayoutsAttr()
                       : value.getOwner()->getAttrOfType<ArrayAttr>(kOrders);
  return orders ? dyn_cast<DenseI64ArrayAttr>(orders[value.getResultNumber()])
                : DenseI64ArrayAttr();
}

void setStorageOrder(OpResult value, DenseI64ArrayAttr order) {
  Operation *op = value.getOwner();
  Builder builder(op->getContext());
  SmallVector<Attribute> orders(op->getNumResults(), builder.getUnitAttr());
  if (auto present = op->getAttrOfType<ArrayAttr>(kOrders))
    llvm::copy(present, orders.begin());
  orders[value.getResultNumber()] = order;
  op->setAttr(kOrders, builder.getArrayAttr(orders));
}

DenseI64ArrayAttr batchInnermost(RankedTensorType type) {
  SmallVector<int64_t> order;
  for (int64_t d = 1; d < type.getRank(); ++d)
    order.push_back(d);
  order.push_back(0);
  return DenseI64ArrayAttr::get(type.getContext(), order);
}

DenseI64ArrayAttr channelsInnermost(RankedTensorType type) {
  SmallVector<int64_t> order;
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (d != 1)
      order.push_back(d);
  order.push_back(1);
  return DenseI64ArrayAttr::get(type.getContext(), order);
}

bool isBatchInnermost(DenseI64ArrayAttr order) {
  if (!order || order.size() < 2)
    return false;
  for (int64_t d = 0; d < order.size(); ++d)
    if (order[d] != (d + 1) % order.size())
      return false;
  return true;
}

} // namespace dl::graph
