#include "reports/deflate.h"

#include <gtest/gtest.h>

#include "tests/support/inflate.h"

namespace busbar {
namespace {

// Source: RFC 4648, section 10.
TEST(Base64, GivesTheStandardsOwnExamples) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foob"), "Zm9vYg==");
  EXPECT_EQ(base64("fooba"), "Zm9vYmE=");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64("\xff\xfe\xfd"), "//79");
}

TEST(Deflate, ComesBackWhole) {
  for (const std::string& text : {std::string(), std::string("a"), std::string(100000, 'x')}) {
    EXPECT_EQ(inflated(deflated(text)), text);
    EXPECT_EQ(inflated(from_base64(base64(deflated(text)))), text);
  }
  EXPECT_LT(deflated(std::string(100000, 'x')).size(), 1000U);
}

}  // namespace
}  // namespace busbar
