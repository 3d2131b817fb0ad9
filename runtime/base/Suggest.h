// "Did you mean": the nearest of the names that would have fitted.
#ifndef DLRT_BASE_SUGGEST_H
#define DLRT_BASE_SUGGEST_H

#include <span>
#include <string>
#include <string_view>

namespace dlrt {

/// The candidate within a third of the length in edits, or an empty string.
std::string nearest(std::string_view name,
                    std::span<const std::string> candidates);

/// "; did you mean 'x'?", or an empty string if nothing is near.
std::string didYouMean(std::string_view name,
                       std::span<const std::string> candidates);

} // namespace dlrt

#endif
