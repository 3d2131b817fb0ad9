#include "runtime/plan/PlanReader.h"

#include "runtime/plan/CodeRecord.h"
#include "runtime/plan/RaceVerifier.h"
#include "runtime/plan/Validator.h"

#include <fmt/format.h>

using namespace dlrt;

static Status damaged(const char *what) {
  return {Code::Plan, fmt::format("the plan is damaged: {}", what)};
}

namespace {

/// Checks what unpacking relies on and counts what it would copy. A FlatBuffer
/// may refer to one vector from many tables; a small hostile file could so ask
/// for terabytes.
class UnpackBudget {
public:
  explicit UnpackBudget(size_t bytes) : left(bytes) {}

  bool plan(const fb::Plan &p) {
    return take(p.producer()) && take(p.model()) && take(p.machine_hash()) &&
           each(p.states(), [&](auto &s) { return state(s); }) &&
           each(p.buffers(), [&](auto &b) { return take(b.name()); }) &&
           each(p.kernels(), [&](auto &k) { return kernel(k); }) &&
           each(p.datasets(), [&](auto &d) { return dataset(d); }) &&
           each(p.steps(), [&](auto &s) { return step(s); }) &&
           each(p.images(), [&](auto &i) { return take(i.features()); }) &&
           each(p.sources(), [&](auto &s) {
             return take(s.op()) && take(s.module_()) && take(s.location());
           });
  }

private:
  bool spend(size_t count, size_t bytesEach) {
    if (count > left / bytesEach)
      return false;
    left -= count * bytesEach;
    return true;
  }
  /// FlatBuffers' verifier looks at the alignment of a vector's length only.
  template <typename T> bool take(const flatbuffers::Vector<T> *vector) {
    return !vector ||
           (isAligned<T>(vector->Data()) && spend(vector->size(), sizeof(T)));
  }
  template <typename T> static bool isAligned(const uint8_t *data) {
    return reinterpret_cast<uintptr_t>(data) % alignof(T) == 0;
  }
  bool take(const flatbuffers::String *text) {
    return !text || spend(text->size(), 1);
  }
  template <typename Vector, typename Visit>
  bool each(const Vector *vector, Visit visit) {
    if (!vector)
      return true;
    if (!spend(vector->size(), sizeof(flatbuffers::uoffset_t)))
      return false;
    for (const auto *item : *vector)
      if (!visit(*item))
        return false;
    return true;
  }

  bool state(const fb::State &s) {
    return take(s.name()) && take(s.of()) && take(s.shape()) &&
           takeStructs(s.layout()) && strings(s.aliases());
  }
  bool kernel(const fb::Kernel &k) {
    return take(k.name()) && take(k.binding_bytes()) &&
           take(k.binding_aligns()) && take(k.writes()) && take(k.ops()) &&
           take(k.strategy()) && takeStructs(k.constants());
  }
  bool dataset(const fb::Dataset &d) {
    return take(d.root()) && strings(d.paths()) &&
           each(d.components(), [&](auto &c) { return take(c.shape()); });
  }
  bool step(const fb::Step &s) {
    return take(s.name()) &&
           each(s.micro(), [&](auto &p) { return program(p); }) &&
           (!s.update() || program(*s.update()));
  }
  bool program(const fb::Program &p) {
    return each(p.commands(),
                [&](auto &c) {
                  return takeStructs(c.bindings()) && take(c.constants()) &&
                         take(c.deps()) && take(c.ops());
                }) &&
           each(p.metrics(),
                [&](auto &m) {
                  return take(m.name()) && take(m.shape()) &&
                         takeStructs(m.layout());
                }) &&
           each(p.errors(), [&](auto &e) { return take(e.message()); });
  }
  bool
  strings(const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>
              *list) {
    return each(list, [&](auto &text) { return take(&text); });
  }
  template <typename Struct>
  bool takeStructs(const flatbuffers::Vector<const Struct *> *structs) {
    return !structs || (isAligned<Struct>(structs->Data()) &&
                        spend(structs->size(), sizeof(Struct)));
  }

  size_t left;
};

} // namespace

static Status readMetadata(std::span<const uint8_t> bytes, LoadedPlan &out) {
  // The verifier's constructor asserts a limit of 2 GiB instead of saying so.
  if (bytes.size() >= FLATBUFFERS_MAX_BUFFER_SIZE)
    return damaged("the metadata is larger than 2 GiB");
  // A table takes at least 8 bytes (its offset in a vector and its vtable
  // offset), so more visits than that mean shared tables.
  flatbuffers::Verifier verifier(
      bytes.data(), bytes.size(), /*max_depth=*/16,
      static_cast<flatbuffers::uoffset_t>(bytes.size() / 8 + 16));
  if (!fb::VerifyPlanBuffer(verifier))
    return damaged("the metadata is not a well-formed table");
  const fb::Plan *plan = fb::GetPlan(bytes.data());
  if (!UnpackBudget(2 * bytes.size()).plan(*plan))
    return damaged("the metadata has misaligned vectors, or refers to the same "
                   "bytes again and again");
  out.plan.reset(plan->UnPack());
  for (auto &state : out.plan->states)
    if (!state->init)
      state->init = std::make_unique<fb::InitT>();
  return {};
}

static Status load(std::span<const uint8_t> bytes, LoadedPlan &out) {
  Expected<std::vector<SectionView>> sections = readContainer(bytes);
  if (!sections)
    return sections.takeError();
  out.sections = std::move(*sections);
  out.checksum = storedChecksum(bytes);
  if (out.sections.empty() || out.sections[0].kind != SectionKind::Metadata)
    return damaged("the first section is not metadata");
  DLRT_TRY(readMetadata(out.sections[0].bytes, out));
  DLRT_TRY(validatePlan(*out.plan, out.sections));
  DLRT_TRY(checkCodeRecord(*out.plan, out.sections));
  return verifyNoRaces(*out.plan);
}

Expected<LoadedPlan> dlrt::readPlan(std::span<const uint8_t> bytes) {
  LoadedPlan out;
  DLRT_TRY(load(bytes, out));
  return out;
}

Expected<LoadedPlan> dlrt::readPlan(const std::string &path) {
  Expected<MappedFile> file = MappedFile::open(path);
  if (!file)
    return file.takeError();
  LoadedPlan out;
  out.file = std::move(*file);
  DLRT_TRY(load(out.file.bytes(), out).within(path));
  return out;
}
