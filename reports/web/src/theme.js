// Colours of the page for charts: read from the style sheet, so that light, dark and print have one source.

import { shortened } from "./format.js";

/** Okabe & Ito's palette in an order that keeps neighbours apart; see style.css. */
const kNames = ["blue", "orange", "green", "purple", "sky", "vermilion", "yellow", "grey"];

export function colours() {
  const style = getComputedStyle(document.documentElement);
  const get = (name) => style.getPropertyValue(`--${name}`).trim();
  const series = Object.fromEntries(kNames.map((name) => [name, get(name)]));
  return { ...series, list: kNames.map((name) => series[name]), ink: get("ink"), soft: get("soft"), faint: get("faint"),
    line: get("line"), paper: get("paper"), raised: get("raised"),
    heat: ["heat-0", "heat-1", "heat-2", "heat-3", "heat-4"].map(get), font: style.fontFamily };
}

/** The kinds of groups keep their colour on all pages; others take what is left, in order. */
const kGroups = { compute: "blue", dp: "orange", shard: "orange", tp: "green", pp: "purple", ep: "sky", cp: "vermilion",
  replica: "yellow", edp: "yellow", bubble: "grey", straggler: "vermilion", idle: "faint" };

export function colourOf(name, c) {
  const known = kGroups[name.split(".")[0]];
  if (known) return c[known];
  let sum = 0;
  for (const letter of name) sum = (sum * 31 + letter.charCodeAt(0)) >>> 0;
  return c.list[1 + (sum % 6)];
}

/** What all charts share. */
export function base(c) {
  return {
    animation: false,
    backgroundColor: "transparent",
    textStyle: { fontFamily: c.font, color: c.ink, fontSize: 12 },
    grid: { left: 8, right: 24, top: 24, bottom: 8, outerBoundsMode: "same", outerBoundsContain: "axisLabel" },
    tooltip: { backgroundColor: c.raised, borderColor: c.line, textStyle: { color: c.ink, fontSize: 12 }, confine: true,
      extraCssText: "box-shadow: 0 4px 16px rgba(0,0,0,.15); max-width: 22rem; white-space: normal;" },
  };
}

export function axis(c, more = {}) {
  const { axisLabel, ...rest } = more;
  return {
    axisLine: { show: false, lineStyle: { color: c.line } },
    axisTick: { show: false },
    splitLine: { lineStyle: { color: c.line, width: 1 } },
    nameTextStyle: { color: c.soft, fontSize: 12 },
    axisLabel: { color: c.soft, fontSize: 12, hideOverlap: true, ...axisLabel },
    ...rest,
  };
}

/** Room for a name in a legend, in characters. */
export const legendRoom = (width) => (width < 500 ? 30 : 60);

/** Names down the side of bars, in `room` pixels; both ends of those that are longer. */
export function names(c, list, room) {
  return axis(c, { type: "category", inverse: true, data: list.map((_, i) => i), splitLine: { show: false },
    axisLabel: { color: c.ink, interval: 0, hideOverlap: false, width: room, overflow: "break", lineHeight: 13,
      formatter: (i) => shortened(list[i], Math.floor((1.55 * room) / 6.8)) } });
}

/** Powers of two between two amounts, at most `most` of them. */
export function twos(low, high, most) {
  const first = Math.ceil(Math.log2(low) - 1e-9);
  const last = Math.floor(Math.log2(high) + 1e-9);
  const stride = Math.max(1, Math.ceil((last - first + 1) / Math.max(2, most)));
  const list = [];
  for (let k = first; k <= last; k += stride) list.push(2 ** k);
  return list;
}

/** A logarithmic axis over sizes or counts, with powers of two at its ticks, however few values there are. */
export function doubling(c, values, width, { formatter, room = 1, ...more }) {
  const beside = room * (values.every((v) => v === values[0]) ? 2 : 1);
  const low = Math.min(...values) / beside;
  const high = Math.max(...values) * beside;
  const customValues = twos(low, high, Math.floor(width / 90));
  return axis(c, { type: "log", logBase: 2, min: low, max: high, splitLine: { show: false }, axisTick: { show: false, customValues }, axisLabel: { formatter, customValues }, ...more });
}

/** Amounts for ticks between two of them: powers of ten where these are many, 1, 2 and 5 times them, or more. */
export function steps(low, high) {
  const list = [];
  const within = high / low > 1e3 ? [1] : high / low > 8 ? [1, 2, 5] : [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8];
  for (let ten = 10 ** Math.floor(Math.log10(low)); ten <= high; ten *= 10)
    for (const k of within) if (k * ten >= low && k * ten <= high) list.push(k * ten);
  return list;
}

/** Dots that are seen as such even on a thin line. */
export const kDotted = [2, 4];

let onChange = [];
export function whenThemeChanges(action) {
  onChange.push(action);
}
export function themeChanged() {
  for (const action of onChange) action();
}
