// A list of which only some entries are here.
#pragma once

#include <cstddef>
#include <vector>

namespace busbar {

/// `of`: how long the whole list is. `numbers`: by the entries here, their places in it, ascending.
struct Excerpt {
  std::size_t of = 0;
  std::vector<std::size_t> numbers;
};

}  // namespace busbar
