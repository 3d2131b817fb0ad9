// The precompiled <dl/dl.h> is used where it fits and nowhere else, and what
// the front end learns of a model is the same with it and without it.

#include "compiler/frontend/ClangCompiler.h"
#include "llvm/ADT/ArrayRef.h"
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

using namespace dl::frontend;

namespace {

const std::string kModel = R"(
struct Block : dl::nn::Module {
  dl::nn::Linear inner[2] = {{8, 8}, {8, 8}};
  dl::Parameter scale{dl::ones({8})};
  dl::Tensor forward(dl::Tensor x) { return inner[1](inner[0](x)) * scale; }
};
template <class M> struct Twice : dl::nn::Module {
  M first, second;
  dl::Tensor forward(dl::Tensor x) { return second(first(x)); }
};
void dl_main(dl::Program &p) {
  auto data = dl::data::MNIST("mnist", {.batch_size = 4});
  Twice<Block> net;
  dl::nn::Sequential all{dl::nn::Flatten{}, dl::nn::ReLU{}, Block{}};
  p.eval("x", data, [&](dl::Batch b) -> dl::Metrics {
    return {{"y", all(net(b.data)).mean()}};
  });
}
)";
const std::string kInclude = "#include <dl/dl.h>\n";

class PrecompiledDslTest : public testing::Test {
protected:
  PrecompiledDslTest() {
    std::string pattern = testing::TempDir() + "/dl-precompiled-XXXXXX";
    folder = mkdtemp(pattern.data());
  }
  ~PrecompiledDslTest() override { std::filesystem::remove_all(folder); }

  std::string write(const std::string &name, const std::string &text) {
    std::string path = folder + "/" + name;
    std::filesystem::create_directories(
        std::filesystem::path(path).parent_path());
    std::ofstream(path) << text;
    return path;
  }

  /// It must compile, and use what is precompiled or not.
  void check(bool used, const std::string &text,
             const PrecompiledDsl &dsl = dl_precompiled_dsl,
             const std::vector<std::string> &folders = {}) {
    SCOPED_TRACE(text);
    CompiledModel model = compileModel(write("model.dl", text), folders, dsl);
    EXPECT_EQ(model.messages, "");
    EXPECT_EQ(model.exitCode, 0);
    EXPECT_TRUE(bool(model.code));
    EXPECT_EQ(model.whyParsed.empty(), used) << model.whyParsed;
  }

  std::string folder;
};

/// The table, but for one array.
template <class T>
PrecompiledDsl with(PrecompiledDsl::Array<T> PrecompiledDsl::*which,
                    const std::vector<T> &items) {
  PrecompiledDsl dsl = dl_precompiled_dsl;
  dsl.*which = {items.data(), static_cast<int64_t>(items.size())};
  return dsl;
}

using Members = std::map<std::string, std::vector<std::string>>;

Members membersOf(const CompiledModel &model) {
  Members members;
  for (const auto &entry : model.types.members)
    for (const Member &member : entry.second)
      members[entry.first().str()].push_back(
          member.name + " " + std::to_string(member.kind) + " at " +
          std::to_string(member.offset));
  return members;
}

std::vector<std::string> variablesOf(const CompiledModel &model) {
  std::vector<std::string> variables;
  for (const Variable &variable : model.types.variables)
    if (variable.file == model.path)
      variables.push_back(variable.name + ":" + std::to_string(variable.line));
  return variables;
}

} // namespace

TEST_F(PrecompiledDslTest, UsedWhereTheModelBeginsWithTheInclude) {
  check(true, kInclude + kModel);
  check(true, "// A comment.\n\n/* Another. */ # include <dl/dl.h> // Here.\n" +
                  kModel);
}

TEST_F(PrecompiledDslTest, NotUsedBehindAnythingElse) {
  check(false, "#define SGD Other\n" + kInclude + kModel);
  check(false, "int before;\n" + kInclude + kModel);
  check(false, "#if 1\n" + kInclude + "#endif\n" + kModel);
  check(false, "#include <vector>\n" + kInclude + kModel);
  check(false, "#include <dl/types.h>\n" + kInclude + kModel);
}

TEST_F(PrecompiledDslTest, TheIncludeIsStillNeeded) {
  CompiledModel model =
      compileModel(write("model.dl", kModel), {}, dl_precompiled_dsl);
  EXPECT_EQ(model.exitCode, 1);
  EXPECT_NE(model.messages.find("model.dl:2:16: error: use of undeclared "
                                "identifier 'dl'"),
            std::string::npos)
      << model.messages;
}

TEST_F(PrecompiledDslTest, NotUsedWhereItCannotBeRead) {
  std::string text = kInclude + kModel;
  check(false, text, with(&PrecompiledDsl::ast, {}));
  check(false, text, with(&PrecompiledDsl::ast, std::vector<char>(1 << 16)));
  const auto &ast = dl_precompiled_dsl.ast;
  check(false, text,
        with(&PrecompiledDsl::ast,
             std::vector<char>(ast.begin(), ast.begin() + ast.count / 2)));
}

TEST_F(PrecompiledDslTest, NotUsedWhereHeadersAreOthers) {
  using Source = PrecompiledDsl::Source;
  std::string text = kInclude + kModel;
  std::vector<Source> sources(dl_precompiled_dsl.sources.begin(),
                              dl_precompiled_dsl.sources.end());
  check(true, text, with(&PrecompiledDsl::sources, sources));
  for (Source other : {Source{"/none.h", 0}, Source{sources.front().path, 1}}) {
    std::vector<Source> changed = sources;
    changed.push_back(other);
    check(false, text, with(&PrecompiledDsl::sources, changed));
  }
  std::vector<const char *> folders(dl_precompiled_dsl.folders.begin(),
                                    dl_precompiled_dsl.folders.end());
  std::swap(folders[1], folders[2]);
  check(false, text, with(&PrecompiledDsl::folders, folders));
  folders.assign(1, "/none");
  check(false, text, with(&PrecompiledDsl::folders, folders));
}

TEST_F(PrecompiledDslTest, NotUsedWhereAFolderHasOneOfTheHeaders) {
  std::string text = kInclude + kModel;
  write("own/mine.h", "");
  check(true, text, dl_precompiled_dsl, {folder + "/own", folder + "/none"});
  write("own/initializer_list", "#include_next <initializer_list>\n");
  check(false, text, dl_precompiled_dsl, {folder + "/own"});
  write("other/dl/dl.h", "#include_next <dl/dl.h>\n");
  check(false, text, dl_precompiled_dsl, {folder + "/other"});
}

TEST_F(PrecompiledDslTest, NotUsedWhereTheModelReplacesWhatItCalls) {
  check(false, kInclude + kModel + R"(
void *operator new[](decltype(sizeof(0)) size) { return __builtin_malloc(size); }
void operator delete[](void *at) noexcept { __builtin_free(at); }
)");
}

TEST_F(PrecompiledDslTest, TellsTheSameOfAModel) {
  std::string path = write("model.dl", kInclude + kModel);
  CompiledModel fast = compileModel(path, {}, dl_precompiled_dsl);
  CompiledModel slow = compileModel(path, {}, with(&PrecompiledDsl::ast, {}));
  ASSERT_EQ(fast.whyParsed, "");
  ASSERT_EQ(slow.whyParsed, "dlcc was built with another Clang");
  EXPECT_EQ(membersOf(fast), membersOf(slow));
  EXPECT_EQ(membersOf(fast).count("5TwiceI5BlockE"), 1u);
  EXPECT_EQ(membersOf(fast).count("N2dl2nn6LinearE"), 1u);
  EXPECT_EQ(variablesOf(fast), variablesOf(slow));
  EXPECT_EQ(variablesOf(fast).size(), 2u);
  EXPECT_EQ(fast.foreignFolders, slow.foreignFolders);
  EXPECT_TRUE(fast.types.hasMain && slow.types.hasMain);
}
