// What an action says when it refuses.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "sim/base/error.h"

namespace busbar {

/// The line of the Error (kInput) that `action` throws, or "no error".
inline std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    return error.what();
  }
  return "no error";
}

}  // namespace busbar
