// How far a prediction may be off for what a calibration could not pin, and what it never saw.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/cost/profile.h"
#include "sim/result/run_result.h"
#include "sim/result/sweep.h"

namespace busbar {

/// The profile with the numbers of one of its draws. Requires: draw below the number of draws.
[[nodiscard]] Profile drawn(const Profile& profile, std::size_t draw);

/// 95 % interval of a time whose logarithm is normal about that of `time`, from its values under the draws:
/// exp(log(time) -+ t x root mean square), t = Student's for as many degrees of freedom as draws. Nothing
/// where no draw moves it: then nothing that it rests on was measured.
[[nodiscard]] std::optional<std::pair<Time, Time>> interval_of(Time time, std::span<const Time> under_draws);

/// The profile under each of its draws.
[[nodiscard]] std::vector<Profile> drawn_profiles(const Profile& profile);

/// Puts an interval to a step time, from its values under all draws; nothing happens without draws. Warns
/// ("not-measured") where none of them moves it.
void add_interval(RunResult& result, std::span<const Time> under_draws);
/// The same to every row of a sweep. `times(profile)`: as many as rows.
void add_intervals(Sweep& sweep, const Profile& profile,
                   const std::function<std::vector<Time>(const Profile&)>& times);

/// The warning "extrapolation" where operations are larger or smaller by over a factor of two than what was
/// measured, on more or fewer ranks, on several hosts where one was measured, or not among the measured ones.
/// Nothing for a profile without ranges.
[[nodiscard]] std::optional<Warning> extrapolation(const Profile& profile, const RunResult& result);
[[nodiscard]] std::optional<Warning> extrapolation(const Profile& profile, const Sweep& sweep);

}  // namespace busbar
