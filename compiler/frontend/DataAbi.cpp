// The functions of <dl/abi_data.h>.
#include "compiler/frontend/Evaluation.h"
#include "compiler/frontend/Guard.h"

using namespace dl::frontend;

static Evaluation *evaluation = nullptr;

static std::string text(const char *given) { return evaluation->text(given); }

extern "C" {

int dl_dataset(const char *kind, const char *root, int train, dl_int items,
               dl_int batchSize, int shuffle, int dropLast) noexcept {
  Guard::InOurCode guard;
  return evaluation->graph.datasets.add({kind,
                                         text(root),
                                         {},
                                         train != 0,
                                         shuffle != 0,
                                         dropLast != 0,
                                         items,
                                         batchSize});
}
void dl_dataset_component(int dataset, const char *path, int dtype,
                          const dl_int *dims, int rank) noexcept {
  Guard::InOurCode guard;
  Graph &graph = evaluation->graph;
  if (path)
    graph.datasets.addFile(
        dataset, path, [&](int stored) { return graph.storedType(stored); });
  else
    graph.datasets.addComponent(dataset, graph.storedType(dtype),
                                {dims, dims + rank});
}
void dl_dataset_input(int dataset, const char *name, int dtype,
                      const dl_int *dims, int rank) noexcept {
  Guard::InOurCode guard;
  Graph &graph = evaluation->graph;
  graph.datasets.addInput(dataset, text(name), graph.storedType(dtype),
                          {dims, dims + rank});
}
void dl_dataset_tokens(int dataset, const char *path, dl_int length,
                       dl_int stride) noexcept {
  Guard::InOurCode guard;
  Graph &graph = evaluation->graph;
  graph.datasets.addTokens(
      dataset, text(path), length, stride,
      [&](int stored) { return graph.storedType(stored); });
}
int dl_dataset_components(int dataset) noexcept {
  Guard::InOurCode guard;
  return static_cast<int>(
      evaluation->graph.datasets.get(dataset).components.size());
}
dl_int dl_dataset_items(int dataset) noexcept {
  Guard::InOurCode guard;
  return evaluation->graph.datasets.get(dataset).items;
}
int dl_dataset_loader(int dataset, dl_int batchSize, int shuffle,
                      int dropLast) noexcept {
  Guard::InOurCode guard;
  return evaluation->graph.datasets.addLoader(dataset, batchSize, shuffle != 0,
                                              dropLast != 0);
}
void dl_dataset_sampler(int dataset, const char *weights, dl_int samples,
                        int replacement) noexcept {
  Guard::InOurCode guard;
  evaluation->graph.datasets.addSampler(dataset, weights, samples,
                                        replacement != 0);
}
int dl_dataset_part(int dataset, dl_int first, dl_int items, int shuffled,
                    dl_int seed) noexcept {
  Guard::InOurCode guard;
  return evaluation->graph.datasets.addPart(dataset, first, items,
                                            shuffled != 0, seed);
}
void dl_dataset_images(int dataset, const dl_image_transform *transforms,
                       int count, int allowEmpty) noexcept {
  Guard::InOurCode guard;
  Graph &graph = evaluation->graph;
  graph.datasets.addImages(
      dataset, {transforms, static_cast<size_t>(count)}, allowEmpty != 0,
      [&](int stored) { return graph.storedType(stored); });
}
dl_int dl_dataset_classes(int dataset) noexcept {
  Guard::InOurCode guard;
  return evaluation->graph.datasets.countClasses(dataset);
}

} // extern "C"

#define DL_SYMBOL(function) {#function, reinterpret_cast<void *>(function)}

std::vector<Jit::Symbol> dl::frontend::dataSymbols(Evaluation &current) {
  evaluation = &current;
  return {
      DL_SYMBOL(dl_dataset),         DL_SYMBOL(dl_dataset_component),
      DL_SYMBOL(dl_dataset_tokens),  DL_SYMBOL(dl_dataset_components),
      DL_SYMBOL(dl_dataset_input),   DL_SYMBOL(dl_dataset_images),
      DL_SYMBOL(dl_dataset_classes), DL_SYMBOL(dl_dataset_items),
      DL_SYMBOL(dl_dataset_sampler), DL_SYMBOL(dl_dataset_loader),
      DL_SYMBOL(dl_dataset_part),
  };
}
