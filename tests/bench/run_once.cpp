// run_once SECONDS DESCRIPTOR COMMAND...: runs the command, ends it after that much CPU time (or ten times
// that by the clock: other work may hold the machine), and writes one line "cpu_s wall_s peak_KiB
// exit_status" to that descriptor. A process starts with the peak memory of the one that starts it, which
// therefore has to be smaller than anything measured: no interpreter.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace {

volatile pid_t child = 0;

void end_child(int) { kill(child, SIGKILL); }

double seconds(const timeval& t) {
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fputs("usage: run_once SECONDS DESCRIPTOR COMMAND...\n", stderr);
    return 2;
  }
  const int figures = std::atoi(argv[2]);
  const auto start = std::chrono::steady_clock::now();
  child = fork();
  if (child == 0) {
    close(figures);
    const auto limit = static_cast<rlim_t>(std::atoi(argv[1]));
    const rlimit cpu{.rlim_cur = limit, .rlim_max = limit + 1};
    setrlimit(RLIMIT_CPU, &cpu);
    execvp(argv[3], argv + 3);
    std::perror(argv[3]);
    _exit(127);
  }
  std::signal(SIGALRM, end_child);
  alarm(10 * static_cast<unsigned>(std::atoi(argv[1])));
  int status = 0;
  rusage usage{};
  while (wait4(child, &status, 0, &usage) < 0) {
  }
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  dprintf(figures, "%.6f %.6f %ld %d\n", seconds(usage.ru_utime) + seconds(usage.ru_stime), wall.count(),
          usage.ru_maxrss, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
  return 0;
}
