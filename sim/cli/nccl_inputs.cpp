#include "sim/cli/nccl_inputs.h"

#include <fmt/format.h>

#include <algorithm>

#include "calibrate/import/nccl_debug_log.h"
#include "calibrate/import/nccl_env.h"
#include "calibrate/import/raw_table.h"
#include "calibrate/import/read_measured.h"
#include "calibrate/import/text_scan.h"
#include "calibrate/import/tuner_csv.h"
#include "sim/base/digest.h"
#include "sim/base/error.h"

namespace busbar {

namespace {

std::string digest_of(std::string_view text) { return fmt::format("{:016x}", fnv1a(text)); }

// A file that cannot be read is a wrong name as far as a command line goes.
std::string input_text(const std::string& path) {
  try {
    return load_text(path);
  } catch (const Error& e) {
    throw Error({.where = e.parts().where,
                 .expected = e.parts().expected,
                 .given = e.parts().given,
                 .message = e.parts().message});
  }
}

void record(NcclInputs& inputs, const char* option, const std::string& path, std::string_view text) {
  inputs.settings.emplace_back(option, path);
  inputs.settings.emplace_back(fmt::format("{}-digest", option), digest_of(text));
}

void load_env(const NcclFiles& o, NcclInputs& inputs) {
  const std::string text = input_text(o.env);
  NcclEnvironment environment = read_nccl_env(text, o.env);
  inputs.overrides.nccl = std::move(environment.settings);
  record(inputs, "env", o.env, text);
  std::string list;
  for (const IgnoredVariable& v : environment.ignored)
    list += fmt::format("{}{} ({})", list.empty() ? "" : ", ", v.name, v.reason);
  if (!list.empty()) inputs.warnings.push_back({"env-no-effect", "these variables change nothing: " + list});
}

void load_tuner(const NcclFiles& o, NcclInputs& inputs) {
  const std::string text = input_text(o.tuner);
  inputs.overrides.nccl.tuner = read_tuner_csv(text, o.tuner, {.registered_buffers = o.registered_buffers});
  record(inputs, "tuner", o.tuner, text);
}

void load_log(const NcclFiles& o, NcclInputs& inputs) {
  const std::string text = input_text(o.log);
  NcclDebugLog read = read_nccl_debug_log(text, o.log);
  if (!o.version && read.log.version) inputs.overrides.nccl.version = *read.log.version;
  inputs.overrides.nccl.log = std::move(read.log);
  record(inputs, "nccl-log", o.log, text);
  if (read.skipped > 0)
    inputs.warnings.push_back(
        {"nccl-log-skipped",
         fmt::format("{} line{} of the NCCL log could not be read and {} left out", read.skipped,
                     read.skipped == 1 ? "" : "s", read.skipped == 1 ? "is" : "are")});
}

void warn(const SimulateOptions& o, NcclInputs& inputs) {
  if (o.registered_buffers)
    inputs.warnings.push_back(
        {"registered-buffers", o.tuner.empty()
                                   ? "registered buffers are not modelled: they change no prediction"
                                   : "registered buffers are not modelled: they only decide which rules of "
                                     "the tuner file match"});
  const bool given = !o.env.empty() || !o.tuner.empty() || !o.nccl_log.empty() || o.nccl_version;
  if (o.calibration == "ideal" && given)
    inputs.warnings.push_back({"ideal-without-nccl",
                               "the ideal profile does not choose as NCCL does: --env, --tuner, --nccl-log "
                               "and --nccl-version change nothing"});
}

bool is_of(const MeasuredTable& table, const SimulateOptions& o, std::size_t ranks) {
  return table.operation == *o.collective &&
         (table.ranks == 0 || table.ranks == static_cast<std::int64_t>(ranks));
}

bool has_type(const MeasuredTable& table, DataType type) { return parse_data_type(table.type) == type; }

Error nothing_measured(const SimulateOptions& o, const Measurement& measured, std::size_t ranks) {
  std::vector<std::string> there;
  for (const MeasuredTable& table : measured.tables) {
    const std::string what = fmt::format("{} on {} ranks", name_of(table.operation), table.ranks);
    if (std::find(there.begin(), there.end(), what) == there.end()) there.push_back(what);
  }
  return Error({.where = o.measured,
                .expected = fmt::format("measurements of {} on {} ranks", name_of(*o.collective), ranks),
                .given = fmt::format("{}", fmt::join(there, ", "))});
}

}  // namespace

NcclInputs load_nccl_files(const NcclFiles& files, const Overrides& start) {
  NcclInputs inputs{.overrides = start, .settings = {}, .warnings = {}};
  if (!files.env.empty()) load_env(files, inputs);
  if (files.version) inputs.overrides.nccl.version = *files.version;
  if (!files.tuner.empty()) load_tuner(files, inputs);
  if (!files.log.empty()) load_log(files, inputs);
  return inputs;
}

NcclInputs load_nccl_inputs(const SimulateOptions& o) {
  NcclInputs inputs =
      load_nccl_files({o.env, o.tuner, o.nccl_log, o.nccl_version, o.registered_buffers}, o.overrides);
  if (o.calibration != "ideal")
    inputs.settings.emplace_back("nccl-version", to_text(inputs.overrides.nccl.version));
  if (o.registered_buffers) inputs.settings.emplace_back("registered-buffers", "true");
  warn(o, inputs);
  return inputs;
}

MeasuredSweep load_measured(const SimulateOptions& o, std::size_t ranks) {
  const std::string text = input_text(o.measured);
  const Measurement measured = read_measured_text(
      text, o.measured, {.operation = o.collective, .ranks = static_cast<std::int64_t>(ranks)});
  std::vector<const MeasuredTable*> fitting;
  for (const MeasuredTable& table : measured.tables)
    if (is_of(table, o, ranks)) fitting.push_back(&table);
  if (fitting.empty()) throw nothing_measured(o, measured, ranks);
  const auto typed = std::find_if(fitting.begin(), fitting.end(),
                                  [&](const MeasuredTable* t) { return has_type(*t, o.type); });
  MeasuredSweep input{typed == fitting.end() ? *fitting.front() : **typed, digest_of(text)};
  if (fitting.size() > 1)
    input.table.notes.push_back(fmt::format("the file has {} tables of this, the one at {} is compared",
                                            fitting.size(), input.table.source));
  if (lower(text).find("rccl") != std::string::npos)
    input.table.notes.push_back("the times are RCCL's, which is outside the model: it is NCCL's");
  return input;
}

std::vector<Bytes> sizes_of(const MeasuredTable& table) {
  std::vector<Bytes> sizes;
  for (const MeasuredRow& row : table.rows) sizes.push_back(row.size);
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

}  // namespace busbar
