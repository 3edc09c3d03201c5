#include "sim/base/input.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <limits>
#include <utility>

#include "sim/base/error.h"

namespace busbar {

namespace {

gzFile handle(void* file) { return static_cast<gzFile>(file); }

constexpr unsigned kBuffer = 1U << 17U;

}  // namespace

void InputStream::Close::operator()(void* file) const { gzclose(handle(file)); }

InputStream::InputStream(std::string path) : path_(std::move(path)) {
  std::error_code ignored;  // opening says it better
  if (std::filesystem::is_directory(path_, ignored))
    throw Error({.where = path_, .message = "cannot be read: it is a folder"});
  errno = 0;
  file_.reset(gzopen(path_.c_str(), "rb"));
  if (!file_)
    throw Error({.where = path_, .message = fmt::format("cannot be opened: {}", std::strerror(errno))});
  gzbuffer(handle(file_.get()), kBuffer);
}

std::size_t InputStream::read(std::span<char> buffer) {
  const auto most =
      static_cast<unsigned>(std::min<std::size_t>(buffer.size(), std::numeric_limits<int>::max()));
  const int got = gzread(handle(file_.get()), buffer.data(), most);
  int code = Z_OK;
  if (got <= 0) static_cast<void>(gzerror(handle(file_.get()), &code));
  if (code == Z_ERRNO) throw Error({.kind = ErrorKind::kSystem, .where = path_, .message = "cannot be read"});
  if (code != Z_OK && code != Z_STREAM_END)
    throw Error({.where = path_, .message = "its gzip data is damaged or cut"});
  return got > 0 ? static_cast<std::size_t>(got) : 0;
}

}  // namespace busbar
