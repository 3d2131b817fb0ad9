#include "runtime/base/FilesLike.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <unistd.h>

using namespace dlrt;

/// Goes back to the last '*' where the text behind it does not fit.
static bool isLike(std::string_view text, std::string_view pattern) {
  size_t t = 0, p = 0, star = std::string_view::npos, behind = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      behind = t;
    } else if (p < pattern.size() &&
               (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++behind;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

std::vector<std::string> dlrt::filesLike(const std::string &path) {
  size_t begin = path.rfind('/') + 1; // npos + 1 is 0
  std::string folder = path.substr(0, begin), pattern = path.substr(begin);
  if (pattern.find_first_of("*?") == std::string::npos ||
      access(path.c_str(), F_OK) == 0)
    return {path};
  std::vector<std::string> found;
  std::error_code error;
  std::filesystem::directory_iterator at(folder.empty() ? "." : folder, error);
  for (; !error && at != std::filesystem::directory_iterator();
       at.increment(error)) {
    std::string name = at->path().filename();
    bool isHidden = name[0] == '.' && pattern[0] != '.';
    std::error_code unreadable;
    if (!isHidden && isLike(name, pattern) && !at->is_directory(unreadable))
      found.push_back(folder + name);
  }
  std::sort(found.begin(), found.end());
  return found;
}

bool dlrt::areThere(const std::string &path) {
  std::vector<std::string> files = filesLike(path);
  return !files.empty() && access(files.front().c_str(), F_OK) == 0;
}
