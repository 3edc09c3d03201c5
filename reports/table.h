// Aligned text tables.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace busbar {

enum class Align : unsigned char { kLeft, kRight };

/// A table of cells. Widths count code points, so that bars and "u" with its accent line up.
class TextTable {
 public:
  explicit TextTable(std::vector<Align> columns) : align_(std::move(columns)) {}
  /// Rows may be shorter than the columns.
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  /// Every line indented by `indent` blanks, columns two blanks apart, no blanks at line ends.
  [[nodiscard]] std::string text(std::size_t indent) const;

 private:
  std::vector<Align> align_;
  std::vector<std::vector<std::string>> rows_;
};

/// A bar of `share` (0..1) of `width` cells.
[[nodiscard]] std::string bar(double share, std::size_t width);
/// One CSV cell: quoted where needed, with leading = + - @ of a text disarmed.
[[nodiscard]] std::string csv_cell(std::string_view text);

}  // namespace busbar
