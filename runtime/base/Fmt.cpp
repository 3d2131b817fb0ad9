// The functions of fmt that its headers declare, compiled once. As
// FMT_HEADER_ONLY they would be in each file that formats, which takes longer
// than the rest of a small one; libfmt.so would have to be, in its version,
// where dlrun is copied to.
#define FMT_HEADER_ONLY
#include <fmt/format.h>

#include <cstdio>
#include <string>

// An inline function is compiled where its address is needed.
[[gnu::used]] static std::string (*const format)(
    fmt::string_view, fmt::format_args) = &fmt::vformat;
[[gnu::used]] static void (*const print)(std::FILE *, fmt::string_view,
                                         fmt::format_args) = &fmt::vprint;
[[gnu::used]] static void (*const printOut)(fmt::string_view,
                                            fmt::format_args) = &fmt::vprint;
