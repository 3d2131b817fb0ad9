#pragma once
// How Clang is called: the same for a .dl and, while dlcc is built, for
// <dl/dl.h>.
#include "compiler/frontend/EmbeddedHeaders.h"
#include "clang/Frontend/CompilerInvocation.h"
#include "llvm/Support/VirtualFileSystem.h"

namespace dl::frontend {

/// <dl/dl.h> is inside of this binary, so that no installation can disagree
/// with it.
inline constexpr llvm::StringLiteral kHeaderFolder = "/dlcc-headers/";

/// Includes <dl/dl.h>, which is so a system header when this is precompiled.
inline constexpr llvm::StringLiteral kPrecompiledHeader =
    "/dlcc-headers/dl/precompiled.h";

/// The machine's files and, in kHeaderFolder, our headers and `more`.
llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem>
filesWithHeaders(llvm::ArrayRef<EmbeddedHeader> more = {});

/// Null if Clang has said why not.
std::unique_ptr<clang::CompilerInvocation>
makeInvocation(const std::string &path,
               const std::vector<std::string> &includeFolders,
               llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> files,
               clang::DiagnosticsEngine &diagnostics);

} // namespace dl::frontend
