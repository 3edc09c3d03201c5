// Sets of times as sorted, disjoint [start, end] pairs.

export function union(intervals) {
  const sorted = intervals.filter(([a, b]) => b > a).sort((x, y) => x[0] - y[0]);
  const out = [];
  for (const [a, b] of sorted) {
    const last = out[out.length - 1];
    if (last && a <= last[1]) last[1] = Math.max(last[1], b);
    else out.push([a, b]);
  }
  return out;
}

export const total = (set) => set.reduce((sum, [a, b]) => sum + b - a, 0);

/** Time that lies in both sets. */
export function common(a, b) {
  let sum = 0;
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    sum += Math.max(0, Math.min(a[i][1], b[j][1]) - Math.max(a[i][0], b[j][0]));
    if (a[i][1] < b[j][1]) i += 1;
    else j += 1;
  }
  return sum;
}
