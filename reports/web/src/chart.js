// A chart with what it says in words, and the table behind it.
import { init } from "./echarts.js";
import { h, slug } from "./dom.js";
import { colours, whenThemeChanges } from "./theme.js";

const charts = [];
const byElement = new WeakMap();

/**
 * figure({ title, says, alt, option, height, table, controls, canvas, ready })
 *   says    sentences under the title: what the reader should see
 *   option  (width, colours) => ECharts option; called again when either changes
 *   height  pixels, or (width) => pixels
 *   table   element behind the chart; tableAt: the id of a section that has it
 *   ready   (chart, element) => void, once
 */
export function figure({ title, says, alt, option, height, table, tableAt, controls, canvas, ready, id }) {
  const name = id ?? slug(title);
  const box = h("div", { class: "chart", role: "img", tabindex: 0, "aria-label": alt ?? title, id: `${name}-chart` });
  const entry = { box, option, height, canvas, ready };
  byElement.set(box, entry);
  charts.push(entry);
  watch(box);
  return section(title, name, says, controls, box, table ? behind(table, title)
    : tableAt ? h("p", { class: "behind" }, h("a", { href: `#${tableAt}` }, "Table", h("span", { class: "unseen" }, ` of: ${title}`))) : null);
}

export function section(title, id, says, ...children) {
  return h("section", { class: "figure", id, "aria-labelledby": `${id}-title` },
    h("h2", { id: `${id}-title` }, title), says ? h("p", { class: "says" }, says) : null, children);
}

/** A table that opens below its chart. */
export function behind(table, title, label = "Table") {
  return h("details", { class: "behind" }, h("summary", {}, label, h("span", { class: "unseen" }, ` of: ${title}`)), table);
}

function draw(entry) {
  const width = entry.box.clientWidth;
  if (width === 0) return;
  const c = colours();
  const height = typeof entry.height === "function" ? entry.height(width) : entry.height ?? 260;
  entry.box.style.height = `${height}px`;
  if (entry.chart) entry.chart.resize({ width, height });
  else entry.chart = init(entry.box, null, { renderer: entry.canvas ? "canvas" : "svg", width, height });
  entry.width = width;
  entry.chart.setOption(entry.option(width, c), { notMerge: true });
  if (entry.ready && !entry.isReady) {
    entry.isReady = true;
    entry.ready(entry.chart, entry.box);
  }
  entry.box.dataset.drawn = "yes";
}

// Charts are drawn when they come near the window: a page opens at once, however many it has.
let seen = null;
let sized = null;
function watch(box) {
  seen ??= new IntersectionObserver((list) => {
    for (const item of list)
      if (item.isIntersecting && !byElement.get(item.target).chart) draw(byElement.get(item.target));
  }, { rootMargin: "600px" });
  sized ??= new ResizeObserver((list) => {
    for (const item of list) {
      const entry = byElement.get(item.target);
      if (entry.chart && item.target.clientWidth > 0 && item.target.clientWidth !== entry.width) draw(entry);
    }
  });
  box.addEventListener("redraw", () => draw(byElement.get(box)));
  seen.observe(box);
  sized.observe(box);
}

/** All charts, whether seen or not: before printing, and for tests. */
export function drawAll() {
  for (const entry of charts) draw(entry);
}

whenThemeChanges(() => charts.filter((entry) => entry.chart).forEach(draw));

/** Lines for a tooltip: [[label, value], ...] under a heading. */
export function tip(heading, lines) {
  return h("div", { class: "tip" }, h("strong", {}, heading),
    lines.filter(Boolean).map(([label, value]) => h("div", {}, h("span", {}, label), h("span", {}, value))));
}
