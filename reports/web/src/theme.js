// Colours of the page for charts: read from the style sheet, so that light, dark and print have one source.

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

let onChange = [];
export function whenThemeChanges(action) {
  onChange.push(action);
}
export function themeChanged() {
  for (const action of onChange) action();
}
