// The long lists of a step: zlib-compressed JSON in base64, times as integers of picoseconds.
//   of             how many rank classes there are, where the timeline has fewer
//   timeline       per rank class: names once, then columns; `gap` is the time from the end of the stream's last
//                  entry to the arrival, `wait` from there to the start, `length` to the end
//   critical_path  as in the record

async function inflated(base64) {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

const second = (ps) => ps / 1e12;

/** Lanes: what one stream of a rank class does, in the order of time. */
export async function unpacked(base64) {
  const data = await inflated(base64);
  return { critical_path: data.critical_path, timeline: data.timeline.map(trackOf), of: data.of ?? data.timeline.length };
}

function trackOf(packed) {
  const ends = new Array(packed.streams.length).fill(0);
  const entries = packed.stream.map((stream, i) => {
    const arrive = ends[stream] + packed.gap[i];
    const start = arrive + packed.wait[i];
    ends[stream] = start + packed.length[i];
    return { stream: packed.streams[stream], operation: packed.operation[i], what: packed.whats[packed.what[i]],
      group: packed.groups[packed.group[i]], arrive_s: second(arrive), start_s: second(start), end_s: second(ends[stream]) };
  });
  return { rank: packed.rank, program: packed.program, entries };
}
