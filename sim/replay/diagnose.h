// What to say when a simulated job hangs.
#pragma once

namespace busbar {

class Replay;

/// Throws Error (kJob): who waits, at which operation, for whom; and the cycle, if ranks wait for each other.
[[noreturn]] void throw_deadlock(Replay& replay);

}  // namespace busbar
