// Numbers for people: three digits, a unit that fits.

const kTimes = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]];
const kBytes = [[1e15, "PB"], [1e12, "TB"], [1e9, "GB"], [1e6, "MB"], [1e3, "kB"], [1, "B"]];
const kBinary = [[2 ** 50, "PiB"], [2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [1, "B"]];
const kFlops = [[1e18, "EFLOP/s"], [1e15, "PFLOP/s"], [1e12, "TFLOP/s"], [1e9, "GFLOP/s"], [1, "FLOP/s"]];

/** Three significant digits, never in powers of ten below a million. */
export function digits(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-4) return value.toExponential(2);
  if (size >= 999.5) return Math.round(value).toLocaleString("en-US");
  return value.toFixed(Math.min(7, Math.max(0, 2 - Math.floor(Math.log10(size) + 1e-12))));
}

// Between a number and its unit no line breaks.
const kGap = "\u00a0";

function scaled(value, units) {
  if (value === 0) return `0${kGap}${units[units.length - 1][1]}`;
  const size = Math.abs(value);
  const [scale, unit] = units.find(([from]) => size >= from * 0.9995) ?? units[units.length - 1];
  return `${digits(value / scale)}${kGap}${unit}`;
}

/** "32.0 MiB" -> "32 MiB": for axes, and for sizes that are powers of two. */
export const trimmed = (text) => text.replace(/(\.\d*?)0+(?=\s|$)/, "$1").replace(/\.(?=\s|$)/, "");
export const tick = (format) => (value) => trimmed(format(value));

export const time = (seconds) => (seconds === 0 ? `0${kGap}s` : scaled(seconds, kTimes));
export const bytes = (count) => scaled(count, kBytes);
export const binary = (count) => trimmed(scaled(count, kBinary));
export const rate = (perSecond) => scaled(perSecond, kBytes) + "/s";
export const flops = (perSecond) => scaled(perSecond, kFlops);
export const integer = (value) => Math.round(value).toLocaleString("en-US");
export const plain = (value) => digits(value);
export const percent = (share) => `${fixed(100 * share)}${kGap}%`;
export const signedPercent = (share) => `${share > 0 ? "+" : share < 0 ? "−" : ""}${fixed(Math.abs(100 * share))}${kGap}%`;
export const money = (amount) => `${amount >= 1e6 ? `${digits(amount / 1e6)} million` : integer(amount)} USD`;
export const text = (value) => String(value);

function fixed(value) {
  if (value === 0) return "0";
  if (Math.abs(value) >= 99.95) return Math.round(value).toLocaleString("en-US");
  return Math.abs(value) < 0.095 ? value.toPrecision(1) : value.toFixed(1);
}

/** Both ends of a name that has more characters than there is room for: either may tell it from others. */
export function shortened(name, room) {
  if (name.length <= room) return name;
  const half = Math.max(2, Math.floor((room - 1) / 2));
  return `${name.slice(0, half)}…${name.slice(-half)}`;
}

/** "1 link", "3 links". */
export const count = (n, one, many = `${one}s`) => `${integer(n)} ${n === 1 ? one : many}`;

/** all_reduce -> all-reduce, for sentences. */
export const words = (name) => name.replaceAll("_", "-");
