// How the process gets its memory from the system.
#pragma once

namespace busbar {

/// To be called once, before anything is allocated: memory that was freed is kept for the next use, and the
/// kernel is asked to back the heap with large pages. A run allocates and frees tables of hundreds of MB one
/// after the other, of which every page would be fetched and cleared anew. Where the system has no such calls
/// or refuses them, nothing changes but speed.
void prepare_memory();

/// To be called when everything is written: ends the process without taking its tables apart, which the
/// system does at once. Returns `exit_code` in builds that look for leaks.
int end_process(int exit_code);

}  // namespace busbar
