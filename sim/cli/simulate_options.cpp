#include "sim/cli/simulate_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <limits>

#include "sim/base/error.h"
#include "sim/base/named_table.h"
#include "sim/base/unit_text.h"
#include "sim/cli/program.h"
#include "sim/cost/profile.h"
#include "sim/result/version.h"
#include "workloads/rank_set.h"

namespace busbar {

namespace {

constexpr std::size_t kMostRows = 1000000;

constexpr const char* kExamples =
    "Examples:\n"
    "  simulate --topology dgx2x8.json --workload fsdp7b.json\n"
    "  simulate --topology dgx2x8.json --workload fsdp7b.json --set fabric.nic=\"200 Gb/s\" --json "
    "half.json\n"
    "  simulate --topology dgx2x8.json --workload fsdp7b.json --compare half.json\n"
    "  simulate --topology dgx2x8.json --workload fsdp7b.json --sensitivity\n"
    "  simulate --topology dgx1x8.json --collective all_reduce --sizes 8:8G:2 --ranks 0-3\n"
    "  simulate --topology dgx2x8.json --workload fsdp7b.json --trace step.json   (open in ui.perfetto.dev)\n"
    "  simulate --topology dgx1x8.json --collective all_gather --ranks 0-3 --sizes 16:16:2 --explain\n"
    "  simulate --topology dgx1x8.json --collective all_reduce --measured log.txt --env nccl.conf\n"
    "  simulate --list hosts";

[[noreturn]] void bad_option(const std::string& option, const std::string& expected, std::string_view given,
                             const std::string& suggestion = "") {
  throw Error({.where = option, .expected = expected, .given = quoted(given), .suggestion = suggestion});
}

template <class T>
T one_of_names(const std::string& option, std::string_view given, std::optional<T> parsed,
               std::span<const std::string_view> names) {
  if (!parsed) bad_option(option, one_of(names), given, did_you_mean(given, names));
  return *parsed;
}

Bytes size_of_text(std::string_view text) {
  const Parsed<Bytes> parsed = parse_nccl_size(text);
  if (const auto* error = std::get_if<UnitError>(&parsed))
    bad_option("--sizes", error->expected, text, error->suggestion);
  return std::get<Bytes>(parsed);
}

double factor_of_text(std::string_view text) {
  double factor = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), factor);
  if (error != std::errc() || end != text.data() + text.size() || !(factor > 1) || factor > 1e18)
    bad_option("--sizes", "a factor above 1, as in 8:8G:2", text);
  return factor;
}

void add_range(std::vector<Bytes>& sizes, std::string_view text) {
  const std::size_t first = text.find(':');
  if (first == std::string_view::npos) return sizes.push_back(size_of_text(text));
  const std::size_t second = text.find(':', first + 1);
  if (second == std::string_view::npos) bad_option("--sizes", "FROM:TO:FACTOR, as in 8:8G:2", text);
  const Bytes from = size_of_text(text.substr(0, first));
  const Bytes to = size_of_text(text.substr(first + 1, second - first - 1));
  const double factor = factor_of_text(text.substr(second + 1));
  if (from.count() == 0 || from > to)
    bad_option("--sizes", "a first size above zero and not above the last", text);
  // The number of sizes is known before any is made.
  if (std::log(to.as_double() / from.as_double()) / std::log(factor) > static_cast<double>(kMostRows))
    bad_option("--sizes", fmt::format("at most {} sizes", kMostRows), text);
  std::int64_t last = 0;
  for (double size = from.as_double(); size <= to.as_double() && size < 9e18; size *= factor) {
    const auto whole = static_cast<std::int64_t>(size);
    if (whole != last) sizes.emplace_back(whole);
    last = whole;
  }
}

RankRange range_of_text(std::string_view text, std::string_view part, const std::string& option) {
  // A single rank is the range from itself to itself.
  const auto range = parse_rank_range(
      part.find('-') == std::string_view::npos ? fmt::format("{}-{}", part, part) : std::string(part));
  if (!range) bad_option(option, "ranks such as 0-7, 0-15:2 or 0,2,4", text);
  return *range;
}

struct RawOptions {
  std::string collective, sizes, ranks, trace_ranks, type = "fp32", redop = "sum", algorithm, protocol;
  std::int64_t channels = 0, seed = 1, root = 0;
  std::string detail, nccl_version;
};

// How NCCL is set up and called.
void declare_nccl(CLI::App& app, SimulateOptions& o, RawOptions& raw) {
  app.add_option("--env", o.env, "NCCL_* variables: lines NAME=value");
  app.add_option("--tuner", o.tuner, "rules of NCCL's example tuner plugin (CSV)");
  app.add_option("--nccl-log", o.nccl_log,
                 "output of NCCL_DEBUG=INFO with the subsystems INIT,TUNING: its table and choices are used");
  app.add_option("--nccl-version", raw.nccl_version,
                 fmt::format("choose as this release does, such as 2.21.5 (default: that of --nccl-log, else "
                             "the newest modelled, {})",
                             to_text(NcclVersion{})));
  app.add_option("--gpus-per-process", o.calls.gpus_per_process,
                 "GPUs that each process drives, which launches their kernels in turn")
      ->capture_default_str()
      ->check(CLI::Range(1, 1024));
  app.add_flag("--cuda-graph", o.calls.cuda_graph, "launches are captured and cost less");
  app.add_flag("--registered-buffers", o.registered_buffers, "buffers are registered with NCCL");
  app.add_flag("--isolated", o.isolated,
               "each collective alone on its stream, as in a step, instead of back to back as nccl-tests");
  app.add_option("--measured", o.measured,
                 "measurements to set beside a sweep: output of nccl-tests, its JSON, CSV, "
                 "busbar.measured/1 (without --sizes: at their sizes)");
}

void declare(CLI::App& app, SimulateOptions& o, RawOptions& raw) {
  app.footer(kExamples);
  app.set_version_flag("--version", std::string(kVersion));
  app.add_option("--topology", o.topology,
                 "cluster: busbar.topology/1 file (also looked up in the catalogue)");
  app.add_option("--workload", o.workload,
                 "step: busbar.workload/1 or busbar.trace/1 file (also in the catalogue)");
  app.add_option("--calibration", o.calibration, "default, ideal or a profile of calibrate")
      ->capture_default_str();
  app.add_option("--set", o.sets, "change an input key: key.path=value (repeatable)")
      ->allow_extra_args(false);
  app.add_option("--collective", raw.collective, "predict one collective over --sizes instead of a step");
  app.add_option("--sizes", raw.sizes, "FROM:TO:FACTOR; K, M, G are powers of 1024 (default 8:8G:2)");
  app.add_option("--ranks", raw.ranks, "ranks of the collective: 0-7, 0-15:2 or a comma list (default all)");
  app.add_option("--type", raw.type, "element type")->capture_default_str();
  app.add_option("--redop", raw.redop, "reduction")->capture_default_str();
  app.add_option("--algorithm", raw.algorithm, "force an algorithm");
  app.add_option("--protocol", raw.protocol, "force a protocol: LL, LL128, Simple");
  app.add_option("--channels", raw.channels, "force the number of channels")->check(CLI::Range(1, 64));
  app.add_option("--json", o.json, "write the result as JSON (-: standard output, and no text)");
  app.add_option("--html", o.html, "write a page with charts, in one file (-: standard output, and no text)");
  app.add_option("--csv", o.csv, "write the tables as CSV (-: standard output, and no text)");
  app.add_option("--md", o.markdown, "write the tables as Markdown (-: standard output, and no text)");
  app.add_option(
      "--compare", o.compare,
      "earlier --json files: of sweeps a column of each, of steps before and after; in text and on the page");
  app.add_option("--trace", o.trace,
                 "write a timeline of the step, for ui.perfetto.dev (-: standard output)");
  app.add_option("--trace-ranks", raw.trace_ranks,
                 "ranks of the timeline: 0-7, 0-15:2 or a comma list (default one per program)");
  app.add_flag("--explain", o.explain, "say why each operation takes its time");
  app.add_flag("--sensitivity", o.sensitivity,
               "say what the step time depends on: links, NICs, latencies, kernels, launches, the batch");
  app.add_flag("--no-symmetry", o.no_symmetry,
               "replay every rank, not one for each class that behaves alike (slower, with the same times)");
  app.add_flag("--no-interval", o.no_interval,
               "with a calibrated profile: the time alone, without simulating its draws for an interval");
  app.add_option("--dump-trace", o.dump_trace, "write the step as busbar.trace/1");
  app.add_option("--dump-topology", o.dump_topology, "write the cluster in the long form");
  app.add_option("--seed", raw.seed, "seed of everything random in the input")
      ->capture_default_str()
      ->check(CLI::Range(std::int64_t{0}, std::numeric_limits<std::int64_t>::max()));
  app.add_option("--root", raw.root, "root of broadcast, reduce, gather, scatter: its place in --ranks")
      ->check(CLI::Range(0, 1 << 24));
  app.add_option("--detail", raw.detail, "chunk: run the collective message by message (small groups)");
  declare_nccl(app, o, raw);
  app.add_option(
      "--list", o.list,
      "print a table: hosts, fabrics, models, strategies, algorithms, formats, frameworks, gpus, presets");
  app.add_flag("--quiet", o.quiet, "no text on standard output");
}

void read_raw(SimulateOptions& o, const RawOptions& raw) {
  if (!raw.collective.empty()) o.collective = collective_called(raw.collective);
  o.sizes = parse_sizes(raw.sizes.empty() ? "8:8G:2" : raw.sizes);
  if (!raw.ranks.empty()) o.ranks = raw.ranks;
  if (!raw.trace_ranks.empty()) o.trace_ranks = raw.trace_ranks;
  o.type = one_of_names("--type", raw.type, parse_data_type(raw.type), data_type_names());
  o.reduction = one_of_names("--redop", raw.redop, parse_reduction(raw.redop), reduction_names());
  if (!raw.algorithm.empty()) o.overrides.algorithm = raw.algorithm;
  if (!raw.protocol.empty()) {
    Protocol protocol{};
    if (!parse_protocol(raw.protocol, protocol))
      bad_option("--protocol", "LL, LL128 or Simple", raw.protocol);
    o.overrides.protocol = protocol;
  }
  o.seed = static_cast<std::uint64_t>(raw.seed);
  o.root = static_cast<std::uint32_t>(raw.root);
  if (!raw.detail.empty() && raw.detail != "chunk") bad_option("--detail", "chunk", raw.detail);
  o.chunks = !raw.detail.empty();
  if (raw.channels > 0) o.overrides.channels = raw.channels;
  o.sizes_given = !raw.sizes.empty();
  if (!raw.nccl_version.empty()) o.nccl_version = nccl_version_called(raw.nccl_version);
}

void check_combination(const SimulateOptions& o, const RawOptions& raw) {
  if (!o.list.empty()) return;
  if (o.topology.empty())
    throw Error({.where = "command line", .message = "--topology FILE is missing; see --help for examples"});
  if (o.workload.empty() && !o.collective && !o.dump_topology.empty()) return;
  if (o.workload.empty() == !o.collective)
    throw Error({.where = "command line", .message = "give either --workload FILE or --collective NAME"});
  if (!o.collective && (!raw.sizes.empty() || !raw.ranks.empty()))
    throw Error({.where = "command line", .message = "--sizes and --ranks belong to --collective"});
  if (o.collective && o.sensitivity)
    throw Error({.where = "command line", .message = "--sensitivity belongs to --workload"});
  const bool sweep_only =
      !o.measured.empty() || o.isolated || o.calls.cuda_graph || o.calls.gpus_per_process != 1;
  if (!o.collective && sweep_only)
    throw Error(
        {.where = "command line",
         .message = "--measured, --isolated, --cuda-graph and --gpus-per-process belong to --collective"});
  if (o.collective && !o.dump_trace.empty())
    throw Error({.where = "command line", .message = "--dump-trace belongs to --workload"});
  if (o.collective && !o.trace.empty())
    throw Error({.where = "command line", .message = "--trace belongs to --workload"});
  if (o.trace_ranks && o.trace.empty())
    throw Error({.where = "command line", .message = "--trace-ranks belongs to --trace"});
  if ((o.json == "-") + (o.html == "-") + (o.csv == "-") + (o.markdown == "-") + (o.trace == "-") > 1)
    throw Error({.where = "command line",
                 .message = "only one of --json, --html, --csv, --md and --trace can go to standard output"});
}

}  // namespace

std::vector<Bytes> parse_sizes(std::string_view text) {
  std::vector<Bytes> sizes;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    add_range(sizes, text.substr(begin, end - begin));
    if (sizes.size() > kMostRows) bad_option("--sizes", fmt::format("at most {} sizes", kMostRows), text);
    begin = end + 1;
  }
  return sizes;
}

std::vector<std::uint32_t> parse_ranks(std::string_view text, std::uint32_t available,
                                       const std::string& option) {
  std::vector<std::uint32_t> ranks;
  std::vector<bool> named(available, false);
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view part = text.substr(begin, end - begin);
    const RankRange range = range_of_text(text, part, option);
    if (last_rank(range) >= available) bad_option(option, fmt::format("ranks below {}", available), part);
    for_each_rank({range}, [&](std::uint32_t rank) {
      if (named[rank]) bad_option(option, "each rank once", text);
      named[rank] = true;
      ranks.push_back(rank);
    });
    begin = end + 1;
  }
  return ranks;
}

std::optional<SimulateOptions> parse_simulate(int argc, const char* const* argv, int& exit_code) {
  SimulateOptions options;
  RawOptions raw;
  CLI::App app("Predicts how long a training step, or a collective, takes on a GPU cluster, and why.",
               "simulate");
  declare(app, options, raw);
  if (!parse_line(app, argc, argv, exit_code)) return std::nullopt;
  read_raw(options, raw);
  check_combination(options, raw);
  return options;
}

}  // namespace busbar
