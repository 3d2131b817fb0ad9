#include "compiler/codegen/cuda/Nvrtc.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include <dlfcn.h>
#include <memory>
#include <mutex>
#include <vector>

using llvm::StringRef;

namespace dl::cuda {

/// What is used of nvrtc.h (CUDA 12 and 13), by its own names.
struct Nvrtc::Functions {
  using Program = void *;
  int (*Version)(int *major, int *minor);
  int (*CreateProgram)(Program *program, const char *source, const char *name,
                       int headers, const char *const *contents,
                       const char *const *names);
  int (*DestroyProgram)(Program *program);
  int (*CompileProgram)(Program program, int count, const char *const *options);
  int (*GetCUBINSize)(Program program, size_t *bytes);
  int (*GetCUBIN)(Program program, char *cubin);
  int (*GetPTXSize)(Program program, size_t *bytes);
  int (*GetPTX)(Program program, char *ptx);
  int (*GetProgramLogSize)(Program program, size_t *bytes);
  int (*GetProgramLog)(Program program, char *log);
  const char *(*GetErrorString)(int result);
};

static llvm::Error wrong(const llvm::Twine &text) {
  return llvm::createStringError(text);
}

/// Where tools/dev/setup.sh --cuda puts it.
static std::string besideTools() {
  llvm::SmallString<256> folder = llvm::sys::path::parent_path(
      llvm::sys::path::parent_path(llvm::sys::fs::getMainExecutable(
          nullptr, reinterpret_cast<void *>(&besideTools))));
  llvm::sys::path::append(folder, "nvrtc");
  return folder.str().str() + "/";
}

static void *openAnywhere() {
  std::vector<std::string> paths;
  if (auto said = llvm::sys::Process::GetEnv("DL_NVRTC")) {
    if (!llvm::sys::fs::is_directory(*said))
      return dlopen(said->c_str(), RTLD_NOW | RTLD_LOCAL);
    paths.push_back(*said + "/");
  } else {
    paths = {"", "/usr/local/cuda/lib64/",
             "/usr/local/cuda/targets/x86_64-linux/lib/", besideTools()};
  }
  for (const std::string &folder : paths)
    for (const char *name : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"})
      if (void *library =
              dlopen((folder + name).c_str(), RTLD_NOW | RTLD_LOCAL))
        return library;
  return nullptr;
}

/// NVRTC opens its headers' library by the name alone, when it first compiles:
/// it finds the one that is open already, whatever folder that is from.
static void openBuiltins(void *version, int major, int minor) {
  Dl_info own;
  if (!dladdr(version, &own))
    return;
  llvm::SmallString<256> path = llvm::sys::path::parent_path(own.dli_fname);
  llvm::sys::path::append(path, "libnvrtc-builtins.so." + llvm::Twine(major) +
                                    "." + llvm::Twine(minor));
  dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
}

llvm::Expected<const Nvrtc *> Nvrtc::open() {
  static std::mutex once;
  static Functions functions;
  static std::unique_ptr<const Nvrtc> known;
  std::lock_guard lock(once);
  if (known)
    return known.get();
  void *library = openAnywhere();
  if (!library)
    return wrong("code for CUDA is compiled by NVRTC (libnvrtc.so.13 or .12), "
                 "which is not there: tools/dev/setup.sh --cuda fetches it; "
                 "NVIDIA's CUDA Toolkit has it, too; DL_NVRTC=FOLDER says "
                 "where it is");
  bool all = true;
  auto find = [&](auto &function, const char *name) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(
        dlsym(library, name));
    all &= function != nullptr;
  };
  find(functions.Version, "nvrtcVersion");
  find(functions.CreateProgram, "nvrtcCreateProgram");
  find(functions.DestroyProgram, "nvrtcDestroyProgram");
  find(functions.CompileProgram, "nvrtcCompileProgram");
  find(functions.GetCUBINSize, "nvrtcGetCUBINSize");
  find(functions.GetCUBIN, "nvrtcGetCUBIN");
  find(functions.GetPTXSize, "nvrtcGetPTXSize");
  find(functions.GetPTX, "nvrtcGetPTX");
  find(functions.GetProgramLogSize, "nvrtcGetProgramLogSize");
  find(functions.GetProgramLog, "nvrtcGetProgramLog");
  find(functions.GetErrorString, "nvrtcGetErrorString");
  if (!all)
    return wrong("the NVRTC that was found lacks functions of version 12; "
                 "DL_NVRTC=FOLDER names another one");
  int major = 0, minor = 0;
  functions.Version(&major, &minor);
  openBuiltins(reinterpret_cast<void *>(functions.Version), major, minor);
  known.reset(new Nvrtc(&functions));
  return known.get();
}

std::string Nvrtc::version() const {
  int major = 0, minor = 0;
  call->Version(&major, &minor);
  return std::to_string(major) + "." + std::to_string(minor);
}

llvm::Expected<llvm::SmallVector<char, 0>>
Nvrtc::compile(const std::string &source, const std::string &name,
               StringRef target, Spills spills) const {
  bool ptx = target.consume_front("ptx_");
  std::string architecture = (ptx ? "--gpu-architecture=compute_" + target
                                  : "--gpu-architecture=" + target)
                                 .str();
  // With fused operations off, a * b + c means what it means on hosts.
  std::vector<const char *> options = {architecture.c_str(), "--std=c++20",
                                       "--fmad=false", "-default-device",
                                       "--diag-suppress=177"}; // unused names
  if (!ptx && spills == Spills::Refused)
    options.insert(options.end(), {"--ptxas-options=--warn-on-spills",
                                   "--ptxas-options=--warning-as-error"});
  Functions::Program program;
  if (int result = call->CreateProgram(&program, source.c_str(), name.c_str(),
                                       0, nullptr, nullptr))
    return wrong(call->GetErrorString(result));
  auto destroy = [this](Functions::Program *made) {
    call->DestroyProgram(made);
  };
  std::unique_ptr<Functions::Program, decltype(destroy)> owned(&program,
                                                               destroy);
  if (int result =
          call->CompileProgram(program, options.size(), options.data())) {
    size_t bytes = 0;
    call->GetProgramLogSize(program, &bytes);
    std::string log(bytes, 0);
    call->GetProgramLog(program, log.data());
    return wrong(llvm::Twine(call->GetErrorString(result)) + ":\n" +
                 log.c_str());
  }
  size_t bytes = 0;
  if (int result = ptx ? call->GetPTXSize(program, &bytes)
                       : call->GetCUBINSize(program, &bytes))
    return wrong(call->GetErrorString(result));
  llvm::SmallVector<char, 0> code;
  code.resize_for_overwrite(bytes);
  if (int result = ptx ? call->GetPTX(program, code.data())
                       : call->GetCUBIN(program, code.data()))
    return wrong(call->GetErrorString(result));
  return code;
}

} // namespace dl::cuda
