#include "sim/cli/files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <vector>

#include "sim/base/error.h"

namespace busbar {

namespace fs = std::filesystem;

namespace {

// bin/ and share/ lie side by side in an installation and in a build folder.
fs::path catalogue_folder(std::string_view kind) {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored).parent_path() / ".." / "share" / "busbar" / kind;
}

std::vector<std::string> catalogue_names(std::string_view kind) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(catalogue_folder(kind), ignored))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

struct Closer {
  void operator()(std::FILE* f) const { std::fclose(f); }
};

void write_to(const std::string& path, std::string_view content) {
  std::unique_ptr<std::FILE, Closer> file(std::fopen(path.c_str(), "wb"));
  const bool ok = file && std::fwrite(content.data(), 1, content.size(), file.get()) == content.size() &&
                  std::fflush(file.get()) == 0;
  if (!ok)
    throw Error({.kind = ErrorKind::kSystem,
                 .where = path,
                 .message = fmt::format("cannot write: {}", std::strerror(errno))});
}

void replace_file(const std::string& path, std::string_view content) {
  const std::string temporary = fmt::format("{}.{}.part", path, ::getpid());
  try {
    write_to(temporary, content);
  } catch (const Error& e) {
    std::remove(temporary.c_str());
    throw Error({.kind = ErrorKind::kSystem, .where = path, .message = e.parts().message});
  }
  std::error_code ignored;
  if (const fs::file_status old = fs::status(path, ignored); fs::is_regular_file(old))
    fs::permissions(temporary, old.permissions(), ignored);
  if (std::rename(temporary.c_str(), path.c_str()) == 0) return;
  const std::string why = std::strerror(errno);
  std::remove(temporary.c_str());
  throw Error({.kind = ErrorKind::kSystem, .where = path, .message = "cannot write: " + why});
}

}  // namespace

std::string find_input(const std::string& name, std::string_view kind) {
  std::error_code ignored;
  if (fs::exists(name, ignored)) return name;
  if (name.find('/') == std::string::npos) {
    const fs::path entry = catalogue_folder(kind) / name;
    if (fs::path dotted = entry; !fs::exists(entry, ignored) && fs::exists(dotted += ".json", ignored))
      return fs::weakly_canonical(dotted, ignored).string();
    if (fs::exists(entry, ignored)) return fs::weakly_canonical(entry, ignored).string();
  }
  const std::vector<std::string> names = catalogue_names(kind);
  const std::vector<std::string_view> views(names.begin(), names.end());
  std::string suggestion = did_you_mean(name, views);
  if (suggestion.empty() && !names.empty())
    suggestion = fmt::format("the catalogue has {}", fmt::join(names, ", "));
  throw Error({.where = name,
               .message = fmt::format("no such file here or in the {} catalogue", kind),
               .suggestion = suggestion});
}

std::string shared_folder(std::string_view kind) {
  std::error_code ignored;
  return fs::weakly_canonical(catalogue_folder(kind), ignored).string();
}

void write_output(const std::string& path, std::string_view content) {
  if (path == "-") {
    if (std::fwrite(content.data(), 1, content.size(), stdout) != content.size() || std::fflush(stdout) != 0)
      throw Error({.kind = ErrorKind::kSystem,
                   .where = "standard output",
                   .message = fmt::format("cannot write: {}", std::strerror(errno))});
    return;
  }
  std::error_code ignored;
  const fs::file_status status = fs::symlink_status(path, ignored);
  if (fs::exists(status) && !fs::is_regular_file(status)) return write_to(path, content);
  replace_file(path, content);
}

namespace {

[[noreturn]] void cannot_write(const std::string& path, const std::string& why) {
  throw Error({.kind = ErrorKind::kSystem, .where = path, .message = "cannot write: " + why});
}

void check_output(const std::string& path) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (fs::is_directory(status)) cannot_write(path, "it is a folder");
  if (fs::exists(status) && !fs::is_regular_file(status)) return;  // a pipe or a device
  const std::string parent = fs::path(path).parent_path().string();
  const std::string folder = parent.empty() ? "." : parent;
  if (!fs::is_directory(folder, ignored)) cannot_write(path, fmt::format("no folder {}", quoted(folder)));
  if (::access(folder.c_str(), W_OK) != 0) cannot_write(path, std::strerror(errno));
}

}  // namespace

void check_outputs(std::span<const std::string> paths, std::span<const std::string> inputs) {
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (paths[i].empty() || paths[i] == "-") continue;
    check_output(paths[i]);
    for (const std::string& input : inputs)
      if (!input.empty() && is_same_file(paths[i], input))
        throw Error({.where = "command line", .message = quoted(paths[i]) + " is an input and an output"});
    for (std::size_t j = 0; j < i; ++j)
      if (!paths[j].empty() && is_same_file(paths[i], paths[j]))
        throw Error({.where = "command line", .message = quoted(paths[i]) + " is the place of two outputs"});
  }
}

bool is_same_file(const std::string& a, const std::string& b) {
  if (a == "-" || b == "-") return false;
  std::error_code ignored;
  const fs::file_status status = fs::status(a, ignored);
  if (fs::exists(status)) return fs::is_regular_file(status) && fs::equivalent(a, b, ignored);
  // A relative path of which nothing exists stays as it is: "v" and "./v" would differ.
  const auto whole = [&](const std::string& path) {
    return fs::weakly_canonical(fs::absolute(path, ignored), ignored);
  };
  return whole(a) == whole(b);
}

}  // namespace busbar
