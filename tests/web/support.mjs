// What the cases share: writing pages, opening them, and reading their figures.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** Runs a program in the folder; exit codes other than those allowed are errors. */
export function runs({ bin, folder }, program, words, allowed = [0]) {
  try {
    execFileSync(join(bin, program), words, { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  } catch (error) {
    if (!allowed.includes(error.status)) throw new Error(`${program} ${words.join(" ")}: exit code ${error.status}: ${error.stderr}`);
  }
}

/** The record and the page of one run. */
export function both(context, program, words, allowed) {
  runs(context, program, [...words, "--json", "record.json", "--html", "page.html", "--quiet"], allowed);
  return { record: JSON.parse(readFileSync(join(context.folder, "record.json"), "utf8")), page: join(context.folder, "page.html") };
}

/** A page of a record made by hand: that of a program with its data exchanged. */
export function withRecord(context, record) {
  runs(context, "simulate", ["--topology", "dgx1x8.json", "--collective", "barrier", "--html", "hand.html", "--quiet"]);
  const path = join(context.folder, "hand.html");
  const text = JSON.stringify(record).replaceAll("<", "\\u003c");
  writeFileSync(path, readFileSync(path, "utf8").replace(/(<script type="application\/json" id="record">)[^<]*/, (all, tag) => tag + text));
  return path;
}

/** Opens a page and draws all its charts; what the browser complains of is an error at `close`. */
export async function opened({ browser }, page, options = {}) {
  const view = await browser.newContext({ viewport: { width: 1280, height: 900 }, acceptDownloads: true, ...options });
  const tab = await view.newPage();
  const complaints = [];
  tab.on("console", (message) => complaints.push(`${message.type()}: ${message.text()}`));
  tab.on("pageerror", (error) => complaints.push(error.stack));
  tab.on("dialog", (dialog) => { complaints.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  tab.on("request", (request) => { if (!/^(file|blob|data):/.test(request.url())) complaints.push(`asked for ${request.url()}`); });
  const begin = Date.now();
  await tab.goto(pathToFileURL(page).href);
  await tab.waitForSelector("#page[data-ready]");
  const seconds = (Date.now() - begin) / 1000;
  await tab.evaluate(() => window.busbar.drawAll());
  return { tab, seconds, close: async () => { await view.close(); assert.deepEqual(complaints, []); } };
}

export function at(record, pointer) {
  return pointer.split("/").slice(1).reduce((value, key) => value?.[key.replaceAll("~1", "/").replaceAll("~0", "~")], record);
}

const kUnits = { s: 1, ms: 1e-3, "µs": 1e-6, ns: 1e-9, min: 60, h: 3600, days: 86400, years: 365 * 86400, B: 1, kB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12, PB: 1e15, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40,
  "B/s": 1, "kB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9, "TB/s": 1e12, "FLOP/s": 1, "GFLOP/s": 1e9, "TFLOP/s": 1e12, "PFLOP/s": 1e15, "%": 0.01, kWh: 3.6e6, MWh: 3.6e9, GWh: 3.6e12, million: 1e6, USD: 1 };

/** "−1.23 ms" -> -0.00123. */
export function numberOf(text) {
  const found = text.replaceAll(",", "").replace("−", "-").match(/^([+-]?[\d.]+(?:e[+-]?\d+)?)(?:[ \u00a0](\S+))?/);
  assert.ok(found, `not a figure: ${text}`);
  if (found[2]) assert.ok(found[2] in kUnits, `unknown unit in: ${text}`);
  return Number(found[1]) * (kUnits[found[2]] ?? 1);
}

/**
 * Every figure of the page that names its place in the record has the record's value, and reads as that value: to
 * three digits, percentages to one place after the point. Texts in cells equal the record's.
 */
export async function figuresEqual(tab, record, least) {
  const figures = await tab.$$eval("data[data-from]", (list) => list.map((e) => ({ from: e.dataset.from, value: e.value, text: e.textContent })));
  assert.ok(figures.length >= least, `${figures.length} figures on the page`);
  for (const { from, value, text } of figures) {
    const expected = at(record, from);
    assert.notEqual(expected, undefined, `${from} is not in the record`);
    if (typeof expected !== "number") {
      assert.equal(text, String(expected), from);
      continue;
    }
    assert.ok(Number(value) === expected, `${from}: ${value}, not ${expected}`);  // 0 and -0 are the same
    if (from.endsWith("/elasticity") && text.endsWith("%")) continue;  // told as the gain of 10 %
    // The answer says by how much the step gets shorter: less the change.
    const read = from.endsWith("/change_10_percent_better") && !/^[+−]/.test(text) ? -numberOf(text) : numberOf(text);
    const allowed = text.endsWith("%") ? Math.max(0.00051, Math.abs(expected) * 0.0051) : Math.abs(expected) * 0.0051;
    assert.ok(Math.abs(read - expected) <= allowed, `${from} is ${expected}, the page reads ${text}`);
  }
  return figures;
}

/** Every chart has words, can be reached by keyboard, was drawn, and has a table. */
export async function chartsAreWhole(tab) {
  const charts = await tab.$$eval(".chart", (list) => list.map((e) => ({
    id: e.id, label: e.getAttribute("aria-label"), role: e.getAttribute("role"), reached: e.tabIndex === 0, marks: e.querySelectorAll("path, rect, canvas").length,
    table: Boolean(e.parentElement.querySelector("details table") ?? document.querySelector(`${e.parentElement.querySelector("p.behind a")?.getAttribute("href") ?? "#nowhere"} table`)),
  })));
  assert.ok(charts.length > 0);
  for (const chart of charts) {
    assert.ok(chart.label?.length > 10 && chart.role === "img" && chart.reached, JSON.stringify(chart));
    assert.ok(chart.marks > 0 && chart.table, JSON.stringify(chart));
  }
  return charts.map((chart) => chart.id);
}

/** On a phone nothing makes the page itself scroll sideways; dark paper is dark; on paper there are no buttons but the tables' headings. */
export async function fitsEverywhere(context, page) {
  const phone = await opened(context, page, { viewport: { width: 390, height: 844 } });
  assert.ok((await phone.tab.evaluate(() => document.documentElement.scrollWidth)) <= 390);
  await phone.close();
  const dark = await opened(context, page, { colorScheme: "dark" });
  const paper = () => dark.tab.evaluate(() => getComputedStyle(document.documentElement).backgroundColor.match(/\d+/g).slice(0, 3).map(Number));
  assert.ok(Math.max(...(await paper())) < 64, "dark paper");
  await dark.tab.click("button.theme");
  assert.ok(Math.min(...(await paper())) > 192, "light paper after the button");
  await dark.tab.emulateMedia({ media: "print" });
  const seen = (list) => list.filter((e) => e.offsetParent !== null).length;
  assert.equal(await dark.tab.$$eval("button:not(th button)", seen), 0);
  const tables = await dark.tab.$$eval("table", (list) => list.filter((e) => e.offsetParent !== null).map((e) =>
    ({ headed: [...e.querySelectorAll("th")].some((th) => th.innerText.trim().length > 0) })));
  for (const table of tables) assert.ok(table.headed, "a table without headings on paper");
  await dark.tab.setViewportSize({ width: 718, height: 1047 });  // A4 less margins of 1 cm, at 96 pixels an inch
  assert.ok((await dark.tab.evaluate(() => document.documentElement.scrollWidth)) <= 718, "wider than paper");
  await dark.close();
}

/** What a reader reads: without the gaps that do not break. */
export const wordsOf = async (tab, selector = "#page") => (await tab.textContent(selector)).replaceAll("\u00a0", " ");

/** Where the page has some rows of a list only, these are the record's, at the places that it names. */
export async function excerptOf(tab, name) {
  return tab.evaluate((key) => JSON.parse(document.getElementById("record").textContent)[`${key}_excerpt`], name);
}

/** The file that a click brings. */
export async function downloadOf(tab, selector) {
  const [download] = await Promise.all([tab.waitForEvent("download"), tab.click(selector)]);
  return readFileSync(await download.path(), "utf8");
}
