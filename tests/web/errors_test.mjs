import assert from "node:assert/strict";
import { statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { both, chartsAreWhole, excerptOf, figuresEqual, fitsEverywhere, opened, runs, wordsOf } from "./support.mjs";

const kData = join(dirname(fileURLToPath(import.meta.url)), "../../validate/data/collectives/h100c01_n1g8_all_reduce.csv");

// A curve of 20 us and 100 GB/s, as it was and `factor` times slower.
function measured(folder, name, factor = 1) {
  const rows = [];
  for (let size = 2 ** 16; size <= 2 ** 30; size *= 4) rows.push(`all_reduce,8,${size},${((20 + size / 1e5) * factor).toFixed(2)}`);
  writeFileSync(join(folder, name), `operation,ranks,size_bytes,time_us\n${rows.join("\n")}\n`);
}

export const cases = {
  "validation: worst rows first, every figure as in the record": async (context) => {
    const { record, page } = both(context, "validate", ["--suite", "steps", "--most-gpus", "16", "--every", "12"]);
    const { tab, close } = await opened(context, page);
    await figuresEqual(tab, record, 40);
    const charts = await chartsAreWhole(tab);
    for (const id of ["scatter", "by-size", "by-system", "by-strategy"]) assert.ok(charts.includes(`${id}-chart`), id);
    const shown = await tab.$$eval("#rows tbody tr", (list) => list.map((row) => Math.abs(Number(row.querySelector("data").value))));
    const worst = record.rows.map((row) => Math.abs(row.error)).sort((a, b) => b - a).slice(0, shown.length);
    assert.deepEqual(shown, worst);
    await close();
    await fitsEverywhere(context, page);
  },

  "validation: suites of different quantities share a page": async (context) => {
    const { record, page } = both(context, "validate", ["--suite", "all", "--most-gpus", "8", "--every", "60"], [0, 1]);
    assert.ok(record.suites.length > 1);
    const { tab, close } = await opened(context, page);
    await figuresEqual(tab, record, 40);
    await chartsAreWhole(tab);
    await close();
  },

  "validation: of 15,000 rows a page has the worst and the ends": async (context) => {
    const rows = Array.from({ length: 15000 }, (_, i) => `all_reduce,8,${1024 + 65536 * i},${(20 + (1024 + 65536 * i) / 2.7e5) * (1 + 0.001 * ((i * 7919) % 100))}`);
    writeFileSync(join(context.folder, "many.csv"), `operation,ranks,size_bytes,time_us\n${rows.join("\n")}\n`);
    const { record, page } = both(context, "validate", ["--topology", "dgx1x8.json", "--measured", "many.csv"]);
    assert.equal(record.rows.length, 15000);
    assert.ok(statSync(page).size < 3e6, `${statSync(page).size} bytes`);
    const { tab, seconds, close } = await opened(context, page);
    await figuresEqual(tab, record, 40);
    const { of, numbers } = await excerptOf(tab, "rows");
    const worst = record.rows.reduce((w, row, i) => (Math.abs(row.error) > Math.abs(record.rows[w].error) ? i : w), 0);
    assert.ok(of === 15000 && [0, worst, 14999].every((i) => numbers.includes(i)));
    assert.equal(Number(await tab.$eval("#rows tbody data", (e) => e.value)), record.rows[worst].error);
    assert.ok((await wordsOf(tab, "#rows .says")).includes("3,000 of the 15,000 rows"));
    console.log(`    ${(statSync(page).size / 1e6).toFixed(2)} MB, open after ${seconds.toFixed(2)} s`);
    await close();
  },

  "calibration: points, fit, residuals and intervals": async (context) => {
    const { record, page } = both(context, "calibrate", ["--from", kData, "--collective", "all_reduce", "--ranks", "8", "--topology", "dgx1x8.json", "-o", "p.json"]);
    assert.equal(record.points.length, record.rows);
    const { tab, close } = await opened(context, page);
    await figuresEqual(tab, record, 30);
    const charts = await chartsAreWhole(tab);
    for (const id of ["fit", "residuals", "intervals"]) assert.ok(charts.includes(`${id}-chart`), id);
    await close();
    await fitsEverywhere(context, page);
  },

  "calibration: a profile alone, and two beside each other": async (context) => {
    measured(context.folder, "m.csv");
    measured(context.folder, "n.csv", 1.5);
    for (const name of ["m", "n"]) runs(context, "calibrate", ["--from", `${name}.csv`, "--topology", "dgx1x8.json", "-o", `${name}.json`, "--quiet"]);
    const alone = both(context, "calibrate", ["--show", "m.json"]);
    const one = await opened(context, alone.page);
    await figuresEqual(one.tab, alone.record, 1);
    await one.close();
    const two = both(context, "calibrate", ["--show", "n.json", "--compare", "m.json"], [0, 1]);
    const page = await opened(context, two.page);
    await figuresEqual(page.tab, two.record, 1);
    await chartsAreWhole(page.tab);
    assert.match(await wordsOf(page.tab, ".answer"), /^\d+ of \d+ numbers? changed/);
    await page.close();
    const same = both(context, "calibrate", ["--show", "m.json", "--compare", "m.json"]);
    const unchanged = await opened(context, same.page);
    assert.match(await wordsOf(unchanged.tab, ".answer"), /^No change: of \d+ numbers?, none moved beyond its interval\.$/);
    await unchanged.close();
  },

  "health: what is slow stands first": async (context) => {
    measured(context.folder, "m.csv");
    const { record, page } = both(context, "calibrate", ["--check", "--from", "m.csv", "--topology", "dgx1x8.json"], [0, 1]);
    const { tab, close } = await opened(context, page);
    await figuresEqual(tab, record, 0);
    await close();
  },
};
