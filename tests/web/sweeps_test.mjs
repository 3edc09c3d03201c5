import assert from "node:assert/strict";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { both, chartsAreWhole, downloadOf, excerptOf, figuresEqual, fitsEverywhere, opened, runs, wordsOf } from "./support.mjs";

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

  "several systems have a column and a curve each": async (context) => {
    const of = (topology, name) => runs(context, "simulate", ["--topology", topology, "--collective", "all_reduce", "--ranks", "0-7", "--sizes", "1M:1G:32", "--json", name, "--quiet"]);
    of("dgx2x8-a100.json", "a100.json");
    of("dgx1x8.json", "h100.json");
    const { record, page } = both(context, "simulate", ["--topology", "dgx1x8.json", "--collective", "all_reduce", "--sizes", "1K:1G:2", "--compare", "a100.json", "h100.json"]);
    assert.deepEqual(record.compared.map((other) => other.rows.length), [3, 3]);
    const { tab, close } = await opened(context, page);
    await figuresEqual(tab, record, 5 * record.rows.length + 12);
    const lines = (await downloadOf(tab, "#sizes .actions button:last-child")).trim().split("\n");
    for (const head of ["time[1] (s)", "busbw[2] (B/s)", "change[2] (share)"]) assert.ok(lines[0].split(",").includes(head), head);
    const at = (size) => lines.find((line) => line.startsWith(`${size},`)).split(",");
    const change = lines[0].split(",").indexOf("change[2] (share)");
    assert.equal(Number(at(2 ** 20)[change]), 0);  // itself
    assert.equal(at(2 ** 11)[change], "");
    for (const other of record.compared) assert.ok((await wordsOf(tab, "#sizes .says")).includes(other.name));
    assert.match(await wordsOf(tab, ".answer"), /At 1 GiB it takes [\d.]+ % less time than /);
    await close();
    await fitsEverywhere(context, page);
  },

  "the table of the page names its figures as --csv does": async (context) => {
    writeFileSync(join(context.folder, "m.csv"), "operation,ranks,size_bytes,time_us\nall_reduce,8,1048576,40\nall_reduce,8,1073741824,4100\n");
    const { page } = both(context, "simulate", ["--topology", "dgx1x8.json", "--collective", "all_reduce", "--sizes", "1M:1G:2", "--measured", "m.csv", "--csv", "sweep.csv"]);
    const named = readFileSync(join(context.folder, "sweep.csv"), "utf8").split("\n")[0].split(",").map((head) => head.replace(/_(bytes|us|GBps|percent)$/, ""));
    const { tab, close } = await opened(context, page);
    const heads = (await downloadOf(tab, "#sizes .actions button:last-child")).split("\n")[0].split(",");
    for (const head of heads) {
      assert.ok(named.includes(head.replace(/ \(.*\)$/, "")), head);
      if (/^(size|time|algbw|busbw|measured|error)/.test(head)) assert.match(head, / \((bytes|s|B\/s|share)\)$/);
    }
    await close();
  },

  "of 15,000 sizes a page has what can be told apart": async (context) => {
    const { record, page } = both(context, "simulate", ["--topology", "dgx1x8.json", "--collective", "all_reduce", "--sizes", "1K:8G:1.001"]);
    assert.ok(record.rows.length > 15000);
    assert.ok(statSync(page).size < 3e6, `${statSync(page).size} bytes`);
    const { tab, seconds, close } = await opened(context, page);
    const { of, numbers } = await excerptOf(tab, "rows");
    assert.equal(of, record.rows.length);
    assert.ok(numbers.length === 3000 && numbers[0] === 0 && numbers.at(-1) === of - 1);
    const best = record.rows.reduce((b, row, i) => (row.busbw_Bps > record.rows[b].busbw_Bps ? i : b), 0);
    assert.ok(numbers.includes(best));
    await figuresEqual(tab, record, 300);  // of the whole record, at the places that the excerpt names
    assert.ok((await wordsOf(tab, "#sizes .says")).includes(`3,000 of the ${of.toLocaleString("en-US")} sizes`));
    console.log(`    ${(statSync(page).size / 1e6).toFixed(2)} MB, open after ${seconds.toFixed(2)} s`);
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
