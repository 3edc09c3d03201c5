// Files front to back, packed by gzip or not.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace busbar {

/// The bytes of a file, in order; what gzip packed comes out unpacked, whatever the file is called.
/// Errors (Error): cannot be opened, a folder, damaged or cut gzip (kInput); cannot be read (kSystem).
class InputStream {
 public:
  explicit InputStream(std::string path);
  /// The number of bytes put into `buffer`; 0 only at the end.
  [[nodiscard]] std::size_t read(std::span<char> buffer);
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  struct Close {
    void operator()(void* file) const;
  };
  std::string path_;
  std::unique_ptr<void, Close> file_;  // a gzFile: users of this header need not see zlib
};

}  // namespace busbar
