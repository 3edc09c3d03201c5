// Runs one fuzz target, without a fuzzer, over its corpus and over changes of it that are the same on every
// machine. Linked with each target; BUSBAR_FUZZ_CORPUS is its folder.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/fuzz/fuzz.h"
#include "tests/support/sanitized.h"
#include "tests/support/seeded.h"

namespace busbar {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kBudget_s = kSanitized ? 5 : 0.5;
constexpr int kMutations = 3000;
constexpr std::uint64_t kSeed = 20240607;
// Far above what any input of a few kilobytes should take, and far below a hang.
constexpr double kLongest_s = 20;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::vector<std::string> corpus() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(BUSBAR_FUZZ_CORPUS))
    paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> texts;
  for (const auto& path : paths) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    texts.push_back(text.str());
  }
  return texts;
}

void run(const std::string& input) {
  const Clock::time_point start = Clock::now();
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(input.data());
  ASSERT_NO_THROW(LLVMFuzzerTestOneInput(bytes, input.size())) << input;
  EXPECT_LT(seconds_since(start), kLongest_s) << input;
}

/// What breaks readers: the ends of number ranges, signs, marks of the syntax, bytes that are no text.
const std::string& hostile(Seeded& random) {
  static const std::vector<std::string> pieces = {"0",        "-1",         "1e308", "9223372036854775807",
                                                  "16777216", "4294967295", "0.5",   "\"\"",
                                                  "null",     "true",       "[]",    "{}",
                                                  "1e-9",     ",",          ":",     "\\u0000",
                                                  "\xff",     "//",         "GB",    "Gb/s",
                                                  "%",        "-",          "+1",    "inf"};
  return pieces[random.index(0, static_cast<std::int64_t>(pieces.size()) - 1)];
}

/// A place in `text`, its end included.
std::size_t place(const std::string& text, Seeded& random) {
  return random.index(0, static_cast<std::int64_t>(text.size()));
}

/// Swaps one word or number for another of the same corpus, or for a hostile one.
void replace_word(std::string& text, const std::string& donor, Seeded& random) {
  const auto word = [&](const std::string& from) {
    const std::size_t begin = std::min(
        from.find_first_of("0123456789abcdefghijklmnopqrstuvwxyz", place(from, random)), from.size());
    const std::size_t end = std::min(from.find_first_of(" \"',:[]{}\n", begin), from.size());
    return std::pair(begin, end - begin);
  };
  const auto [begin, length] = word(text);
  const auto [from, count] = word(donor);
  text.replace(begin, length, random.one_in(2) ? hostile(random) : donor.substr(from, count));
}

void change(std::string& text, const std::string& donor, Seeded& random) {
  const std::size_t at = place(text, random);
  const std::size_t from = place(text, random);
  switch (random.integer(0, 5)) {
    case 0:  // drop a stretch
      text.erase(at, random.index(1, 16));
      return;
    case 1:  // double a stretch
      text.insert(at, text.substr(from, random.index(1, 64)));
      return;
    case 2:  // flip a bit
      if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << random.integer(0, 7)));
      return;
    case 3:
      text.insert(at, hostile(random));
      return;
    default:
      replace_word(text, donor, random);
  }
}

TEST(Corpus, IsReadOrRefused) {
  const std::vector<std::string> texts = corpus();
  ASSERT_GE(texts.size(), 3U);
  for (const std::string& text : texts) run(text);
}

TEST(Corpus, IsReadOrRefusedWithChanges) {
  const std::vector<std::string> texts = corpus();
  ASSERT_FALSE(texts.empty());
  Seeded random(kSeed);
  const auto any = [&] { return texts[random.index(0, static_cast<std::int64_t>(texts.size()) - 1)]; };
  const Clock::time_point start = Clock::now();
  for (int i = 0; i < kMutations && seconds_since(start) < kBudget_s; ++i) {
    SCOPED_TRACE(testing::Message() << "seed " << kSeed << ", change " << i);
    std::string text = any();
    for (std::int64_t changes = random.integer(1, 4); changes > 0; --changes) change(text, any(), random);
    run(text);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace busbar
