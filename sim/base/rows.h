// Items by row, in compressed form: what belongs to one row lies together.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace busbar {

template <class Item>
class Rows {
 public:
  Rows() = default;
  /// `list` is called twice with a function (row, item), and says the same both times. Within a row items
  /// keep the order in which they are said.
  template <class List>
  Rows(std::size_t rows, const List& list) : first_(rows + 1, 0) {
    list([this](std::size_t row, const Item&) { ++first_[row]; });
    std::exclusive_scan(first_.begin(), first_.end(), first_.begin(), 0U);
    items_.resize(first_.back());
    list([this](std::size_t row, const Item& item) { items_[first_[row]++] = item; });
    // Each row's begin has moved to its end, which is the next row's begin.
    std::move_backward(first_.begin(), first_.end() - 1, first_.end());
    first_.front() = 0;
  }
  [[nodiscard]] std::size_t size() const { return first_.empty() ? 0 : first_.size() - 1; }
  [[nodiscard]] std::span<const Item> operator[](std::size_t row) const {
    return std::span(items_).subspan(first_[row], first_[row + 1] - first_[row]);
  }

 private:
  std::vector<std::uint32_t> first_;  // by row, and one past the last
  std::vector<Item> items_;
};

}  // namespace busbar
