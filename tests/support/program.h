// Running a built program as a user would, in a folder of its own.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/support/temporary_folder.h"

namespace busbar {

struct Outcome {
  int exit_code = -1;
  std::string out, err;
};

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// A test with a fresh folder that disappears afterwards.
class ProgramTest : public testing::Test {
 protected:
  /// A file in the folder; returns its name.
  std::string file(const std::string& name, const std::string& text) {
    std::ofstream(path(name), std::ios::binary) << text;
    return name;
  }
  [[nodiscard]] std::filesystem::path path(const std::string& name) const { return folder_.path() / name; }

  Outcome simulate(const std::string& arguments) { return run("simulate", arguments); }
  Outcome calibrate(const std::string& arguments) { return run("calibrate", arguments); }
  Outcome validate(const std::string& arguments) { return run("validate", arguments); }
  Outcome plan(const std::string& arguments) { return run("plan", arguments); }
  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder_.path()), {}));
  }

 private:
  /// `arguments` go through the shell, in the folder.
  Outcome run(const std::string& program, const std::string& arguments) {
    const std::filesystem::path streams = folder_.path().string() + "-streams";
    std::filesystem::create_directories(streams);
    const std::string command = "cd '" + folder_.path().string() + "' && '" BUSBAR_BIN_DIR "/" + program +
                                "' " + arguments + " >'" + (streams / "out").string() + "' 2>'" +
                                (streams / "err").string() + "'";
    const int status = std::system(command.c_str());
    Outcome outcome{WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(streams / "out"),
                    read_file(streams / "err")};
    std::filesystem::remove_all(streams);
    return outcome;
  }

  TemporaryFolder folder_;
};

}  // namespace busbar
