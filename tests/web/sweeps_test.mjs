import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { both, chartsAreWhole, figuresEqual, fitsEverywhere, opened, runs } from "./support.mjs";

const kSweep = ["--topology", "dgx2x8.json", "--collective", "all_reduce", "--sizes", "1K:4G:2"];

export const cases = {
  "a sweep shows the record's figures, with the line rates": async (context) => {
    const { record, page } = both(context, "simulate", kSweep);
    assert.deepEqual(record.line_rates.map((l) => l.rate_Bps), [450e9, 400e9]);  // NVLink 4 of an H100; eight NICs of 400 Gb/s
    const { tab, close } = await opened(context, page);
    await figuresEqual(tab, record, 5 * record.rows.length);
    assert.deepEqual(await chartsAreWhole(tab), ["busbw-chart", "time-chart"]);
    const drawn = (await tab.textContent("#busbw-chart")).replaceAll("\u00a0", " ");
    for (const words of ["the NICs of a host: 400 GB/s", "a GPU's links inside its host: 450 GB/s"]) assert.ok(drawn.includes(words), words);
    const choices = new Set(record.rows.map((row) => `${row.algorithm}/${row.protocol}`));
    assert.ok([...choices].some((choice) => drawn.includes(choice)), "algorithm and protocol stand along the curve");
    await tab.selectOption("#busbw select", "linear");
    await close();
  },

  "measurements and an earlier system are laid over it": async (context) => {
    writeFileSync(join(context.folder, "m.csv"), "operation,ranks,size_bytes,time_us\nall_reduce,8,1048576,40\nall_reduce,8,1073741824,4100\n");
    runs(context, "simulate", ["--topology", "dgx2x8-a100.json", "--collective", "all_reduce", "--ranks", "0-7", "--sizes", "1M:1G:1024", "--json", "old.json", "--quiet"]);
    const { record, page } = both(context, "simulate", ["--topology", "dgx1x8.json", "--collective", "all_reduce", "--measured", "m.csv", "--compare", "old.json"]);
    const { tab, close } = await opened(context, page);
    await figuresEqual(tab, record, 14);
    assert.deepEqual(await chartsAreWhole(tab), ["busbw-chart", "time-chart", "errors-chart"]);
    assert.ok((await tab.textContent("#busbw-chart")).includes("measured"));
    assert.ok((await tab.textContent("#busbw-chart")).includes(record.compared[0].name.slice(0, 10)));
    const answer = await tab.textContent(".answer");
    assert.ok(answer.includes("Against the measurement"));
    await close();
  },

  "a barrier, which has no size, has a page": async (context) => {
    const { record, page } = both(context, "simulate", ["--topology", "dgx1x8.json", "--collective", "barrier"]);
    const { tab, close } = await opened(context, page);
    await figuresEqual(tab, record, 0);
    await close();
  },

  "one size has a page": async (context) => {
    const { record, page } = both(context, "simulate", ["--topology", "dgx1x8.json", "--collective", "all_gather", "--sizes", "1M"]);
    const { tab, close } = await opened(context, page);
    await figuresEqual(tab, record, 5);
    await close();
  },

  "a sweep's page fits a phone, dark and paper": async (context) => {
    const { page } = both(context, "simulate", kSweep);
    await fitsEverywhere(context, page);
  },
};
