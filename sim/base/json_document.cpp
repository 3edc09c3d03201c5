#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "sim/base/digest.h"
#include "sim/base/error.h"
#include "sim/base/json_node.h"
#include "sim/base/json_reader.h"

namespace busbar {
namespace {

constexpr std::size_t kMaxFileSize = std::size_t{1} << 30;

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

[[noreturn]] void fail_too_large(const std::string& path) {
  throw Error({.where = path, .expected = "a file of at most 1 GiB", .given = "a larger one"});
}

/// fopen opens folders too, and a large file need not be read to be refused.
void check_file(const std::string& path) {
  std::error_code ignored;  // fopen says it better
  if (std::filesystem::is_directory(path, ignored))
    throw Error({.where = path, .expected = "a JSON file", .given = "a folder"});
  if (!std::filesystem::is_regular_file(path, ignored)) return;
  const std::uintmax_t size = std::filesystem::file_size(path, ignored);
  if (!ignored && size > kMaxFileSize) fail_too_large(path);
}

std::string read_file(const std::string& path) {
  check_file(path);
  const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rb"));
  if (!file)
    throw Error({.where = path, .message = fmt::format("cannot be opened: {}", std::strerror(errno))});
  std::string text;
  std::vector<char> buffer(std::size_t{1} << 16);
  while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), file.get())) {
    text.append(buffer.data(), count);
    if (text.size() > kMaxFileSize) fail_too_large(path);
  }
  if (std::ferror(file.get()) != 0)
    throw Error({.kind = ErrorKind::kSystem,
                 .where = path,
                 .message = fmt::format("reading failed: {}", std::strerror(errno))});
  return text;
}

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

/// --set: one override on its way into the tree.
class Override {
 public:
  Override(std::string_view key_path, std::string_view value)
      : where_("--set " + std::string(key_path)), value_(value), steps_(split(key_path)) {}

  void apply(JsonNode& root) const {
    JsonNode value = parsed_value();
    JsonNode* node = &root;
    for (const std::string& step : steps_) node = &child(*node, step);
    *node = std::move(value);
  }

 private:
  [[nodiscard]] std::vector<std::string> split(std::string_view path) const {
    std::vector<std::string> steps;
    for (std::size_t start = 0; start <= path.size();) {
      const std::size_t end = std::min(path.find('.', start), path.size());
      steps.emplace_back(path.substr(start, end - start));
      if (steps.back().empty() || steps.back().size() > detail::kMaxJsonString ||
          steps.size() > detail::kMaxJsonDepth)
        fail("keys and array indices joined by dots, such as \"fabric.nic\"", quoted(path));
      start = end + 1;
    }
    return steps;
  }

  /// What is not JSON is a string: --set fabric.nic="400 Gb/s" needs no second pair of quotes.
  [[nodiscard]] JsonNode parsed_value() const {
    const std::size_t max_depth = detail::kMaxJsonDepth - steps_.size();
    try {
      return detail::parse_json(value_, where_, max_depth);
    } catch (const Error&) {
      return detail::parse_json(detail::json_string(value_), where_, max_depth);
    }
  }

  [[nodiscard]] JsonNode& child(JsonNode& node, const std::string& step) const {
    if (auto* object = std::get_if<JsonObject>(&node.value)) return member(*object, step);
    if (auto* array = std::get_if<JsonArray>(&node.value)) return element(*array, step);
    fail(fmt::format("an object or array around {}", quoted(step)), detail::json_text(node, 60));
  }

  /// A new member is an empty object: the next step goes into it, or the value replaces it.
  [[nodiscard]] static JsonNode& member(JsonObject& object, const std::string& key) {
    for (JsonMember& m : object.members)
      if (m.key == key) return m.value;
    object.members.push_back({key, {JsonObject{}}});
    detail::index_keys(object);
    return object.members.back().value;
  }

  [[nodiscard]] JsonNode& element(JsonArray& array, const std::string& step) const {
    std::size_t index = 0;
    const char* end = step.data() + step.size();
    const auto result = std::from_chars(step.data(), end, index);
    if (result.ec != std::errc() || result.ptr != end || index >= array.size())
      fail(fmt::format("an index into an array of {}", array.size()), quoted(step));
    return array[index];
  }

  [[noreturn]] void fail(std::string expected, std::string given) const {
    throw Error({.where = where_, .expected = std::move(expected), .given = std::move(given)});
  }

  std::string where_;
  std::string_view value_;
  std::vector<std::string> steps_;
};

}  // namespace

JsonDocument JsonDocument::make(std::string_view text, std::string name, std::string folder) {
  JsonNode root = detail::parse_json(text, name, detail::kMaxJsonDepth);
  JsonDocument document;
  document.impl_ = std::make_shared<const Impl>(
      Impl{std::move(name), std::move(folder), fnv1a(text, kFnvStart), std::move(root)});
  return document;
}

JsonDocument JsonDocument::load(const std::string& path) {
  return make(read_file(path), path, folder_of(path));
}

JsonDocument JsonDocument::parse(std::string_view text, std::string name) {
  return make(text, std::move(name), "");
}

JsonValue JsonDocument::root() const {
  BUSBAR_CHECK(impl_ != nullptr);
  return JsonValue(impl_, &impl_->root, "");
}

const std::string& JsonDocument::name() const { return impl_->name; }
std::string JsonDocument::folder() const { return impl_->folder; }
std::string JsonDocument::digest() const { return fmt::format("{:016x}", impl_->digest); }
std::string JsonDocument::dump() const { return detail::json_text(impl_->root); }

JsonDocument JsonDocument::with(std::string_view key_path, std::string_view value) const {
  Impl changed = *impl_;
  Override(key_path, value).apply(changed.root);
  // The NUL keeps the override apart from the bytes of the file, which cannot contain one.
  changed.digest = fnv1a(fmt::format("{}{}={}", '\0', key_path, value), changed.digest);
  JsonDocument document;
  document.impl_ = std::make_shared<const Impl>(std::move(changed));
  return document;
}

}  // namespace busbar
