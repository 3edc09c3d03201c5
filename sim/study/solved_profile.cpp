#include "sim/study/solved_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sim/base/error.h"
#include "sim/base/unit_text.h"
#include "sim/replay/step_figures.h"

namespace busbar {

namespace {

void check_kernels(const StepTrace& trace) {
  for (const Program& program : trace.programs)
    for (const Op& op : program.ops)
      if (op.kind == OpKind::kCompute && op.work->duration)
        throw Error(
            {.where = trace.name,
             .message = fmt::format("operation {} has a duration, which no profile changes", quoted(op.id))});
}

std::set<std::string> generations_of(const Profile& profile, const StudiedStep& step) {
  std::set<std::string> names;
  for (std::uint32_t rank = 0; rank < step.trace->ranks; ++rank) {
    const std::int32_t model = step.topology->gpu_model_of(step.topology->ranks()[rank]);
    const std::string_view gpu =
        model < 0 ? "" : std::string_view(step.topology->gpu_models()[static_cast<std::size_t>(model)].name);
    names.insert(std::string(generation_of(profile, gpu).generation->name));
  }
  return names;
}

// In place of an earlier one of the same number; draws go on without it.
void record(CalibrationRecord& calibration, CalibratedValue value) {
  const auto known = std::find_if(calibration.values.begin(), calibration.values.end(),
                                  [&](const CalibratedValue& v) { return v.name == value.name; });
  if (known != calibration.values.end()) {
    *known = std::move(value);
    return;
  }
  calibration.values.push_back(std::move(value));
  for (std::vector<double>& draw : calibration.draws) draw.push_back(1);
}

}  // namespace

Profile with_kernel_speed(const Profile& given, const StudiedStep& step, const Solution& solution) {
  BUSBAR_CHECK(solution.factor.has_value());
  check_kernels(*step.trace);
  Profile profile = given;
  const double slower = slowed_by_slowest(*step.trace, given);  // of the speed that the factor is of
  for (const std::string& name : generations_of(given, step))
    for (Generation& g : profile.generations) {
      if (g.name != name) continue;
      const double before = g.own_share / slower;
      g.own_share = before * *solution.factor;
      record(profile.calibration, {.name = "kernels." + name + ".own_share",
                                   .low = before * solution.low.value_or(*solution.factor),
                                   .high = before * solution.high.value_or(*solution.factor),
                                   .origin = "measured",
                                   .rows = 1});
    }
  // Where the workload says how its ranks differ, the speed is that of the mean one.
  profile.calibration.step_gpus =
      step.trace->slowdowns.empty() ? std::optional<std::int64_t>(step.trace->ranks) : std::nullopt;
  profile.calibration.source =
      fmt::format("kernels as fast as a step of {} on {} GPUs of {} says", to_text(solution.measured),
                  step.trace->ranks, step.topology->name());
  return profile;
}

}  // namespace busbar
