// A timeline as lanes of numbers, and what a window of it shows: merged to what the pixels can tell apart.

/** One lane per rank class and stream, with its entries in the order of time. */
export function lanesOf(timeline) {
  return timeline.flatMap((track, t) => {
    const streams = [...new Set(track.entries.map((e) => e.stream))];
    return streams.map((stream) => {
      const entries = track.entries.filter((e) => e.stream === stream).sort((a, b) => a.start_s - b.start_s);
      return { track: t, program: track.program, rank: track.rank, stream, entries,
        start: Float64Array.from(entries, (e) => e.start_s), end: Float64Array.from(entries, (e) => e.end_s) };
    });
  });
}

/** What an entry is coloured as: its group, or compute. */
export const kindOf = (entry) => entry.group || (entry.what === "compute" ? "compute" : entry.stream);

function firstEndingAfter(ends, at) {
  let low = 0;
  let high = ends.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ends[middle] <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Blocks of a lane inside [from, to]: { start, end, first, count }. Entries narrower than `pixel` seconds that
 * follow each other within a pixel become one block. `matches(entry)`: blocks never mix what matches and what
 * does not.
 */
export function blocksOf(lane, from, to, pixel, matches) {
  const blocks = [];
  for (let i = firstEndingAfter(lane.end, from); i < lane.start.length && lane.start[i] < to; i += 1) {
    const start = lane.start[i];
    const end = lane.end[i];
    const match = matches ? matches(lane.entries[i]) : true;
    const last = blocks[blocks.length - 1];
    if (last && last.match === match && end - start < pixel && last.small && start - last.end < pixel && last.end - last.start < 8 * pixel) {
      last.end = end;
      last.count += 1;
    } else {
      blocks.push({ start, end, first: i, count: 1, match, small: end - start < pixel });
    }
  }
  return blocks;
}
