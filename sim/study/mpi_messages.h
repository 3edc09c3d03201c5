// What the ranks of a study send each other.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/base/error.h"
#include "sim/study/study.h"

namespace busbar {

/// number, cell, candidate.
using TaskMessage = std::array<std::int64_t, 2 + kCandidateNumbers>;

inline TaskMessage message_of(std::size_t number, const StudyTask& task) {
  TaskMessage m{};
  m[0] = static_cast<std::int64_t>(number);
  m[1] = static_cast<std::int64_t>(task.cell);
  const auto numbers = numbers_of(task.candidate);
  std::copy(numbers.begin(), numbers.end(), m.begin() + 2);
  return m;
}

inline StudyTask task_of(const TaskMessage& m) {
  std::array<std::int64_t, kCandidateNumbers> numbers{};
  std::copy(m.begin() + 2, m.end(), numbers.begin());
  return {static_cast<std::size_t>(m[1]), candidate_of(numbers)};
}

/// The number of the task, the figures, and the text of a failure.
inline std::vector<char> answer_of(std::int64_t number, const StepFigures& figures) {
  std::vector<double> numbers = {static_cast<double>(number)};
  for (const auto n : kStepNumbers) numbers.push_back(figures.*n);
  const auto* bytes = reinterpret_cast<const char*>(numbers.data());
  std::vector<char> message(bytes, bytes + numbers.size() * sizeof(double));
  message.insert(message.end(), figures.failure.begin(), figures.failure.end());
  return message;
}

inline std::pair<std::size_t, StepFigures> read_answer(const std::vector<char>& message) {
  std::array<double, 1 + kStepNumbers.size()> numbers{};
  BUSBAR_CHECK(message.size() >= sizeof(numbers));
  std::copy_n(message.data(), sizeof(numbers), reinterpret_cast<char*>(numbers.data()));
  StepFigures figures;
  for (std::size_t i = 0; i < kStepNumbers.size(); ++i) figures.*kStepNumbers[i] = numbers[i + 1];
  figures.failure.assign(message.begin() + sizeof(numbers), message.end());
  return {static_cast<std::size_t>(numbers[0]), figures};
}

}  // namespace busbar
