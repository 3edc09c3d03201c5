#include "sim/study/mpi_pool.h"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>

#include "sim/base/error.h"
#include "sim/study/mpi_messages.h"

namespace busbar {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kTask = 1, kAnswer = 2, kGo = 3;  // kAlive of MpiHeartbeat is another
constexpr auto kNap = std::chrono::microseconds(500);
// A candidate is given to another rank when it has taken this long, and so many times as long as any before.
constexpr double kLeastPatience_s = 10;
constexpr double kPatience = 10;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

StepFigures simulate_task(const std::vector<Cell>& cells, const StudyTask& task) {
  return simulate_candidate(cells[task.cell].problem, task.candidate);
}

}  // namespace

/// One round of tasks on rank 0. Only its main thread speaks MPI.
class MpiPool::Master {
 public:
  Master(MpiPool& pool, const std::vector<Cell>& cells, std::span<const StudyTask> tasks,
         const TaskDone& done)
      : pool_(pool),
        cells_(cells),
        tasks_(tasks),
        done_(done),
        first_(pool.numbered_),
        answered_(tasks.size(), false),
        given_(tasks.size()),
        given_to_(tasks.size(), 0) {
    for (std::size_t i = 0; i < tasks.size(); ++i) waiting_.push_back(i);
    pool.numbered_ += tasks.size();
  }

  void run(std::size_t threads) {
    std::vector<std::jthread> own;
    for (std::size_t t = 0; t < std::max<std::size_t>(1, threads); ++t)
      own.emplace_back([this] { simulate_here(); });
    while (left_ > 0) {
      if (!hand_out() && !listen() && !take_own()) std::this_thread::sleep_for(kNap);
      take_back();
    }
    const std::scoped_lock lock(mutex_);
    waiting_.clear();
    over_ = true;
  }

 private:
  // A task is given to another rank with nothing else to do.
  bool hand_out() {
    if (pool_.idle_.empty()) return false;
    const std::size_t rank = pool_.idle_.back();
    const auto task = next_task(rank);
    if (!task) return false;
    pool_.idle_.pop_back();
    const TaskMessage message = message_of(first_ + *task, tasks_[*task]);
    MPI_Send(message.data(), static_cast<int>(message.size()), MPI_INT64_T, static_cast<int>(rank), kTask,
             MPI_COMM_WORLD);
    return true;
  }

  std::optional<std::size_t> next_task(std::size_t rank) {
    const std::scoped_lock lock(mutex_);
    while (!waiting_.empty()) {
      const std::size_t task = waiting_.front();
      waiting_.pop_front();
      if (answered_[task]) continue;
      given_[task] = Clock::now();
      given_to_[task] = rank;
      return task;
    }
    return std::nullopt;
  }

  bool listen() {
    const auto message = pool_.receive();
    if (!message) return false;
    if (message->empty()) return true;  // a greeting
    const auto [number, figures] = read_answer(*message);
    // Of an earlier round: what was taken back then has come after all.
    if (number >= first_ && number - first_ < tasks_.size()) answer(number - first_, figures);
    return true;
  }

  void answer(std::size_t task, const StepFigures& figures) {
    {
      const std::scoped_lock lock(mutex_);
      if (answered_[task]) return;  // another was quicker
      answered_[task] = true;
      longest_s_ = std::max(longest_s_, seconds_since(given_[task]));
    }
    --left_;
    done_(task, figures);
  }

  void simulate_here() {
    while (!is_over()) {
      const auto task = next_task(0);
      if (!task) {
        std::this_thread::sleep_for(kNap);
        continue;
      }
      StepFigures figures = simulate_task(cells_, tasks_[*task]);
      const std::scoped_lock lock(mutex_);
      own_.emplace_back(*task, std::move(figures));
    }
  }

  [[nodiscard]] bool is_over() {
    const std::scoped_lock lock(mutex_);
    return over_;
  }

  bool take_own() {
    std::vector<std::pair<std::size_t, StepFigures>> some;
    {
      const std::scoped_lock lock(mutex_);
      some.swap(own_);
    }
    for (const auto& [task, figures] : some) answer(task, figures);
    return !some.empty();
  }

  // What somebody has had for far too long goes back into the queue.
  void take_back() {
    const std::scoped_lock lock(mutex_);
    if (!waiting_.empty()) return;
    const double patience = std::max(kLeastPatience_s, kPatience * longest_s_);
    for (std::size_t i = 0; i < tasks_.size(); ++i)
      if (!answered_[i] && seconds_since(given_[i]) > patience) {
        pool_.silent_[given_to_[i]] = given_to_[i] != 0;
        if (given_to_[i] != 0 && pool_.heart_) pool_.heart_->leave_out(given_to_[i]);
        given_[i] = Clock::now();
        waiting_.push_back(i);
      }
  }

  MpiPool& pool_;
  const std::vector<Cell>& cells_;
  std::span<const StudyTask> tasks_;
  const TaskDone& done_;
  std::size_t first_;  // number of the first task
  std::mutex mutex_;
  std::deque<std::size_t> waiting_;
  std::vector<bool> answered_;
  std::vector<Clock::time_point> given_;
  std::vector<std::size_t> given_to_;  // rank
  std::vector<std::pair<std::size_t, StepFigures>> own_;
  double longest_s_ = 0;
  std::size_t left_ = tasks_.size();
  bool over_ = false;
};

MpiPool::MpiPool() {
  int provided = 0, rank = 0, size = 1;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  rank_ = rank;
  size_ = size;
  silent_.assign(static_cast<std::size_t>(size), true);
  // Another thread speaks while the main one reads, screens and reports: where MPI allows that.
  beats_ = provided == MPI_THREAD_MULTIPLE;
  if (beats_ && rank_ == 0) heart_ = std::make_unique<MpiHeartbeat>(silent_.size());
}

// MPI_Finalize would wait for a rank that died, and MPI_Abort does too where the launcher goes on without it.
MpiPool::~MpiPool() {
  if (std::uncaught_exceptions() > 0) return;
  heart_.reset();  // before the last messages: nothing comes after them
  if (rank_ == 0) lost_ranks_ = !dismiss();
  if (lost_ranks_) leave(0);
  MPI_Finalize();
}

std::optional<std::vector<char>> MpiPool::receive() {
  int there = 0, bytes = 0;
  MPI_Status status;
  MPI_Iprobe(MPI_ANY_SOURCE, kAnswer, MPI_COMM_WORLD, &there, &status);
  if (there == 0) return std::nullopt;
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  std::vector<char> message(static_cast<std::size_t>(bytes));
  MPI_Recv(message.data(), bytes, MPI_BYTE, status.MPI_SOURCE, kAnswer, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const auto rank = static_cast<std::size_t>(status.MPI_SOURCE);
  idle_.push_back(rank);
  silent_[rank] = false;
  return message;
}

EvaluateTasks MpiPool::tasks(const std::vector<Cell>& cells, std::size_t threads) {
  return [this, &cells, threads](std::span<const StudyTask> tasks, const TaskDone& done) {
    Master(*this, cells, tasks, done).run(threads);
  };
}

namespace {

/// Threads of a rank that is not the first; its main thread speaks MPI for them.
class Servants {
 public:
  Servants(const std::vector<Cell>& cells, std::size_t threads) : cells_(cells) {
    for (std::size_t t = 0; t < threads; ++t)
      threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
  }
  void give(const TaskMessage& message) {
    const std::scoped_lock lock(mutex_);
    waiting_.push_back(message);
    changed_.notify_one();
  }
  [[nodiscard]] std::optional<std::vector<char>> take() {
    const std::scoped_lock lock(mutex_);
    if (answers_.empty()) return std::nullopt;
    std::vector<char> answer = std::move(answers_.front());
    answers_.pop_front();
    return answer;
  }

 private:
  void work(const std::stop_token& stop) {
    for (;;) {
      TaskMessage message{};
      {
        std::unique_lock lock(mutex_);
        if (!changed_.wait(lock, stop, [this] { return !waiting_.empty(); })) return;
        message = waiting_.front();
        waiting_.pop_front();
      }
      std::vector<char> answer = answer_of(message[0], simulate_task(cells_, task_of(message)));
      const std::scoped_lock lock(mutex_);
      answers_.push_back(std::move(answer));
    }
  }

  const std::vector<Cell>& cells_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<TaskMessage> waiting_;
  std::deque<std::vector<char>> answers_;
  std::vector<std::jthread> threads_;  // last: they end first
};

}  // namespace

void MpiPool::serve(const std::vector<Cell>& cells, std::size_t threads) {
  threads = std::max<std::size_t>(1, threads);
  Servants servants(cells, threads);
  for (std::size_t t = 0; t < threads; ++t) MPI_Send(nullptr, 0, MPI_BYTE, 0, kAnswer, MPI_COMM_WORLD);
  MpiSilence silence;
  for (;;) {
    int there = 0;
    MPI_Status status;
    MPI_Iprobe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &status);
    if (there != 0) silence.end();
    if (beats_ && silence.is_too_long()) {
      orphaned_ = true;
      throw Error(
          {.kind = ErrorKind::kSystem,
           .where = "MPI",
           .message = fmt::format("rank 0 has said nothing for {:.0f} s: it has died", MpiSilence::kMost_s),
           .suggestion = "start again with the same --database: what came is in it"});
    }
    if (there != 0 && status.MPI_TAG == MpiHeartbeat::kAlive) {
      MPI_Recv(nullptr, 0, MPI_BYTE, 0, MpiHeartbeat::kAlive, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (there != 0 && status.MPI_TAG == kGo) {
      std::int64_t lost = 0;
      MPI_Recv(&lost, 1, MPI_INT64_T, 0, kGo, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      lost_ranks_ = lost != 0;
      return;
    } else if (there != 0) {
      TaskMessage message{};
      MPI_Recv(message.data(), static_cast<int>(message.size()), MPI_INT64_T, 0, kTask, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
      servants.give(message);
    } else if (const auto answer = servants.take()) {
      MPI_Send(answer->data(), static_cast<int>(answer->size()), MPI_BYTE, 0, kAnswer, MPI_COMM_WORLD);
    } else {
      std::this_thread::sleep_for(kNap);
    }
  }
}

// Ranks that have not spoken yet may still be reading their input; those that died never speak.
bool MpiPool::dismiss() {
  const auto someone_is_silent = [&] {
    return std::any_of(silent_.begin() + 1, silent_.end(), [](bool s) { return s; });
  };
  for (const auto begin = Clock::now(); someone_is_silent() && seconds_since(begin) < kLeastPatience_s;)
    if (!receive()) std::this_thread::sleep_for(kNap);
  const std::int64_t lost = someone_is_silent() ? 1 : 0;
  for (std::size_t rank = 1; rank < silent_.size(); ++rank)
    if (!silent_[rank]) MPI_Send(&lost, 1, MPI_INT64_T, static_cast<int>(rank), kGo, MPI_COMM_WORLD);
  return lost == 0;
}

void MpiPool::leave(int exit_code) {
  std::fflush(nullptr);
  std::_Exit(exit_code);
}

void MpiPool::abort(int exit_code) {
  MPI_Abort(MPI_COMM_WORLD, exit_code);
  std::abort();
}

}  // namespace busbar
