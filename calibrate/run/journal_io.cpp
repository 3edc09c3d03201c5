#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "calibrate/import/measured_kernels.h"
#include "calibrate/run/journal.h"
#include "sim/base/error.h"
#include "sim/base/json_reader.h"

namespace busbar {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kSchema = "busbar.run-journal/1";
constexpr double kLongest_s = 86400;
constexpr std::int64_t kMostBytes = std::int64_t{1} << 62;

// Two runs at once would write each point twice.
void lock(const std::string& path, int file) {
  if (::flock(file, LOCK_EX | LOCK_NB) == 0) return;
  if (errno == EWOULDBLOCK)
    throw Error({.where = path, .message = "another run is measuring into this journal"});
}

[[noreturn]] void refused(const std::string& path, const char* what) {
  throw Error({.kind = ErrorKind::kSystem,
               .where = path,
               .message = fmt::format("cannot {}: {}", what, std::strerror(errno))});
}

Json spread_json(const TimeSpread& t) { return Json::array({t.median_s, t.p10_s, t.p90_s}); }

std::string point_line(const PointTimes& times) {
  const SweepPoint& p = times.point;
  Json line{
      {"operation", name_of(p.operation)},        {"size_bytes", p.size.count()},  {"members", p.members},
      {"algorithm", p.choice.algorithm},          {"protocol", p.choice.protocol}, {"in_place", p.in_place},
      {"time_s", spread_json(times.back_to_back)}};
  if (times.isolated) line["isolated_s"] = spread_json(*times.isolated);
  return line.dump();
}

std::string kernels_line(const std::vector<MeasuredKernel>& kernels) {
  Json list = Json::array();
  for (const MeasuredKernel& k : kernels) {
    Json entry{{"time_s", k.time.seconds()}};
    if (k.rank) entry["rank"] = *k.rank;
    if (k.kind == MeasuredKernelKind::kCopy) entry.update({{"kind", "copy"}, {"bytes", k.bytes.count()}});
    if (k.kind == MeasuredKernelKind::kLaunch) entry["kind"] = "launch";
    if (k.kind == MeasuredKernelKind::kMatmul)
      entry.update({{"kind", "matmul"}, {"shape", k.shape}, {"type", name_of(k.type)}});
    list.push_back(std::move(entry));
  }
  return Json{{"kernels", std::move(list)}}.dump();
}

std::string head_line(const RunIdentity& identity) {
  Json parts = Json::object();
  for (const auto& [name, value] : identity.parts) parts[name] = value;
  return Json{{"schema", kSchema}, {"identity", std::move(parts)}}.dump();
}

TimeSpread read_spread(const JsonValue& value) {
  const std::vector<JsonValue> three = value.items();
  if (three.size() != 3) value.fail("[median, p10, p90]");
  if (!(three[0].number(0, kLongest_s) > 0)) three[0].fail("a time above 0");
  return {three[0].number(0, kLongest_s), three[1].number(0, kLongest_s), three[2].number(0, kLongest_s)};
}

PointTimes read_point(const JsonValue& line) {
  line.only_keys(
      {"operation", "size_bytes", "members", "algorithm", "protocol", "in_place", "time_s", "isolated_s"});
  const JsonValue operation = line.at("operation");
  const auto kind = parse_collective(operation.string());
  if (!kind) operation.fail("an operation");
  PointTimes times{.point = {.operation = *kind,
                             .size = Bytes(line.at("size_bytes").integer(1, kMostBytes)),
                             .members = read_members(line.at("members")),
                             .choice = {line.at("algorithm").string(), line.at("protocol").string()},
                             .in_place = line.at("in_place").boolean()},
                   .back_to_back = read_spread(line.at("time_s")),
                   .isolated = std::nullopt};
  if (const auto isolated = line.find("isolated_s")) times.isolated = read_spread(*isolated);
  return times;
}

void check_head(const std::string& path, const JsonValue& head, const RunIdentity& identity) {
  head.only_keys({"schema", "identity"});
  if (head.at("schema").string() != kSchema) head.at("schema").fail(fmt::format("\"{}\"", kSchema));
  const JsonValue parts = head.at("identity");
  for (const auto& [name, value] : identity.parts) {
    const auto before = parts.find(name);
    if (before && before->string() == value) continue;
    throw Error({.where = path,
                 .message = fmt::format("cannot go on from this journal: its {} is {}, now it is {}", name,
                                        before ? quoted(before->string()) : "not said", quoted(value)),
                 .suggestion = "measure anew with another -o, or remove the journal"});
  }
}

// The whole lines, and how many bytes they are.
std::pair<std::vector<std::string>, std::size_t> whole_lines(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in || std::filesystem::is_directory(path))
    throw Error({.where = path, .message = "no journal to go on from; leave --resume out"});
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  std::vector<std::string> lines;
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
    lines.push_back(text.substr(begin, end - begin));
  return {std::move(lines), begin};
}

}  // namespace

RunIdentity identity_of(const Machine& machine, const RunSettings& settings) {
  RunIdentity identity{{{"library", machine.library},
                        {"number of ranks", fmt::format("{}", machine.ranks.size())},
                        {"repetitions", fmt::format("{}", settings.repetitions)},
                        {"shortest batch", fmt::format("{} s", settings.shortest_batch_s)},
                        {"isolated times", settings.isolated ? "measured" : "left out"}}};
  for (std::size_t r = 0; r < machine.ranks.size(); ++r) {
    const RankPlace& place = machine.ranks[r];
    identity.parts.emplace_back(fmt::format("rank {}", r),
                                fmt::format("{} {} of {}", place.device, place.local, place.host));
  }
  return identity;
}

Journal::Journal(std::string path, int file) : path_(std::move(path)), file_(file) {}
Journal::Journal(Journal&& other) noexcept
    : path_(std::move(other.path_)), file_(std::exchange(other.file_, -1)) {}
Journal& Journal::operator=(Journal&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(file_, other.file_);
  return *this;
}
Journal::~Journal() {
  if (file_ >= 0) ::close(file_);
}

Journal Journal::create(const std::string& path, const RunIdentity& identity) {
  constexpr mode_t kMode = 0644;
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, kMode);
  if (file < 0 && errno == EEXIST)
    throw Error({.where = path,
                 .message = "an earlier run left its measurements here",
                 .suggestion = "go on with --resume, or remove the file to measure anew"});
  if (file < 0) refused(path, "create");
  Journal journal(path, file);
  lock(path, file);
  journal.append(head_line(identity));
  return journal;
}

Journal Journal::resume(const std::string& path, const RunIdentity& identity, JournalContents& contents) {
  const auto [lines, length] = whole_lines(path);
  if (lines.empty())
    throw Error({.where = path, .message = "holds no whole line; remove it to measure anew"});
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const JsonDocument document = JsonDocument::parse(lines[i], fmt::format("{}:{}", path, i + 1));
    if (i == 0)
      check_head(path, document.root(), identity);
    else if (const auto kernels = document.root().find("kernels"))
      contents.kernels = read_measured_kernels(*kernels);
    else
      contents.points.push_back(read_point(document.root()));
  }
  const int file = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file < 0) refused(path, "open");
  Journal journal(path, file);
  lock(path, file);
  if (::ftruncate(file, static_cast<off_t>(length)) != 0) refused(path, "cut the torn last line of");
  return journal;
}

void Journal::append(const std::string& line) {
  const std::string text = line + "\n";
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t n = ::write(file_, text.data() + at, text.size() - at);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) refused(path_, "write");
    at += static_cast<std::size_t>(n);
  }
  if (::fdatasync(file_) != 0) refused(path_, "write");
}

void Journal::add(const PointTimes& times) { append(point_line(times)); }
void Journal::add(const std::vector<MeasuredKernel>& kernels) { append(kernels_line(kernels)); }

}  // namespace busbar
