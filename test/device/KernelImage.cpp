#include "test/device/KernelImage.h"

#include "test/device/KernelSource.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <spawn.h>
#include <sstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

extern char **environ;

namespace emulated {

namespace fs = std::filesystem;

static std::string variable(const char *name, const char *otherwise = "") {
  const char *value = getenv(name);
  return value && *value ? value : otherwise;
}

static std::string contents(const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

static bool isProgram(const std::string &name) {
  std::istringstream folders(variable("PATH", "/usr/local/bin:/usr/bin:/bin"));
  for (std::string folder; std::getline(folders, folder, ':');)
    if (access((folder + "/" + name).c_str(), X_OK) == 0)
      return true;
  return name.find('/') != name.npos && access(name.c_str(), X_OK) == 0;
}

static std::vector<std::string> command(std::string &error) {
  std::string compiler = variable("DLEMU_CXX");
  for (const char *name : {"clang++-22", "clang++", "g++"})
    if (compiler.empty() && isProgram(name))
      compiler = name;
  if (compiler.empty())
    error = "no C++ compiler for the kernels; DLEMU_CXX names one";
  // Contraction would give other bits than the text asks for.
  std::vector<std::string> words = {compiler,
                                    "-x",
                                    "c++",
                                    "-std=c++20",
                                    "-O1",
                                    "-ffp-contract=off",
                                    "-fno-math-errno",
                                    "-fno-strict-aliasing",
                                    "-fPIC",
                                    "-fvisibility=hidden",
                                    "-ftls-model=local-dynamic",
                                    "-fno-exceptions",
                                    "-fno-rtti",
                                    "-fno-stack-protector",
                                    "-fstack-clash-protection",
                                    "-w",
                                    "-pthread"};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    words.push_back("-march=x86-64-v3");
  if (variable("DLEMU_RACES") == "1") {
    for (const char *word : {"-DDL_SIMT_RACES", "-fsanitize=thread", "-g1"})
      words.push_back(word);
    if (compiler.find("clang") == compiler.npos) {
      error = "reports of accesses need clang";
      return words;
    }
    for (const char *option :
         {"-tsan-instrument-func-entry-exit=0", "-tsan-instrument-atomics=0"}) {
      words.push_back("-mllvm");
      words.push_back(option);
    }
  }
  std::istringstream more(variable("DLEMU_FLAGS"));
  for (std::string word; more >> word;)
    words.push_back(word);
  return words;
}

/// Runs a program; its output goes into a file. True if it succeeded.
static bool execute(const std::vector<std::string> &words,
                    const std::string &output) {
  std::vector<char *> arguments;
  for (const std::string &word : words)
    arguments.push_back(const_cast<char *>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, output.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  // The process may be under LD_PRELOAD or LD_LIBRARY_PATH of a test.
  std::vector<char *> variables;
  for (char **v = environ; *v; ++v)
    if (strncmp(*v, "LD_", 3) != 0)
      variables.push_back(*v);
  variables.push_back(nullptr);
  pid_t child = 0;
  int rc = posix_spawnp(&child, arguments[0], &actions, nullptr,
                        arguments.data(), variables.data());
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  return rc == 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

static uint64_t hashOf(std::string_view text, uint64_t hash) {
  for (unsigned char c : text)
    hash = (hash ^ c) * 0x100000001b3ull;
  return (hash ^ '\n') * 0x100000001b3ull;
}

static std::string keyOf(const std::vector<std::string> &words,
                         std::string_view source, const fs::path &headers) {
  std::string key;
  for (uint64_t seed : {0xcbf29ce484222325ull, 0x9E3779B97F4A7C15ull}) {
    uint64_t hash = seed;
    for (const std::string &word : words)
      hash = hashOf(word, hash);
    for (const char *name :
         {"Interface.h", "simt.h", "TensorCores.h", "Accesses.h", "Atomics.h"})
      hash = hashOf(contents(headers / name), hash);
    char text[20];
    snprintf(text, sizeof text, "%016llx",
             static_cast<unsigned long long>(hashOf(source, hash)));
    key += text;
  }
  return key;
}

/// The path of the shared object; empty and a message if it cannot be made.
static std::string build(std::string_view cuda, std::string &error) {
  std::string source = hostSource(cuda, error);
  std::vector<std::string> words;
  if (error.empty())
    words = command(error);
  if (!error.empty())
    return "";
  fs::path headers = variable("DLEMU_SIMT", DLEMU_SIMT_FOLDER);
  std::string temporaries = variable("TMPDIR", "/tmp");
  fs::path folder = variable(
      "DLEMU_CACHE",
      (temporaries + "/dl-emulated-" + std::to_string(getuid())).c_str());
  std::error_code ignored;
  fs::create_directories(folder, ignored);
  fs::path object = folder / (keyOf(words, source, headers) + ".so");
  if (fs::exists(object))
    return object;
  std::string temporary = object.string() + "." + std::to_string(getpid());
  std::ofstream(temporary + ".cpp", std::ios::binary) << source;
  // Linked by itself: -fsanitize=thread would bring its own run time.
  std::vector<std::string> compile = words,
                           link = {words[0],  "-shared",        "-o",
                                   temporary, temporary + ".o", "-lm"};
  for (std::string word :
       {std::string("-include"), (headers / "simt.h").string(),
        std::string("-c"), std::string("-o"), temporary + ".o",
        temporary + ".cpp"})
    compile.push_back(word);
  bool good =
      execute(compile, temporary + ".log") && execute(link, temporary + ".log");
  if (good)
    fs::rename(temporary, object, ignored);
  else
    error = words[0] + " does not compile the kernels (" + temporary +
            ".cpp):\n" + contents(temporary + ".log");
  fs::remove(temporary + ".o", ignored);
  fs::remove(temporary + ".log", ignored);
  if (good) // to be read beside the addresses in messages
    fs::rename(temporary + ".cpp", object.replace_extension(".cpp"), ignored);
  return good ? object.replace_extension(".so").string() : "";
}

std::unique_ptr<KernelImage> KernelImage::compile(std::string_view cuda,
                                                  std::string &error) {
  std::string path = build(cuda, error);
  if (path.empty())
    return nullptr;
  auto made = std::make_unique<KernelImage>();
  made->library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!made->library) {
    error = dlerror();
    return nullptr;
  }
  auto *get = reinterpret_cast<dlsimt::ImageOf *>(
      dlsym(made->library, DL_SIMT_IMAGE_NAME));
  made->table = get ? get() : nullptr;
  if (!made->table || made->table->version != dlsimt::interfaceVersion) {
    error = path + " is no image of this version";
    return nullptr;
  }
  return made;
}

KernelImage::~KernelImage() {
  if (library)
    dlclose(library);
}

const dlsimt::Kernel *KernelImage::kernel(std::string_view name) const {
  for (unsigned i = 0; i < table->count; ++i)
    if (name == table->kernels[i].name)
      return &table->kernels[i];
  return nullptr;
}

} // namespace emulated
