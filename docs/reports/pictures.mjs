// Draws the gallery of docs/reports.md: node docs/reports/pictures.mjs build/bin build/reports/web
// Needs Chromium and what `npm ci` put into the second folder. The cases stand below as they are typed.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const [bin, modules] = process.argv.slice(2).map((path) => resolve(path));
const here = dirname(fileURLToPath(import.meta.url));
const data = join(here, "../../validate/data");
const folder = mkdtempSync(join(tmpdir(), "busbar-pictures-"));

// Llama 3.1 405B on 131,072 GPUs, with one slow NIC and a slow GPU.
writeFileSync(join(folder, "cluster.json"), JSON.stringify({ schema: "busbar.topology/1", name: "16,384 x DGX H100", hosts: { count: 16384, type: "dgx-h100" },
  fabric: { family: "rail-optimized", tiers: 3 }, faults: [{ link: "h64.nic3->h64.pcie3", bandwidth: "50%" }, { device: "h896.gpu1", compute: "80%" }] }));
writeFileSync(join(folder, "llama405b.json"), JSON.stringify({ schema: "busbar.workload/1", name: "Llama 3.1 405B, TP 8 x PP 16 x DP 1,024", model: { preset: "llama-3.1-405b" },
  batch: { sequence: 8192, micro: 1, global: 65536 }, parallel: { tp: 8, pp: 16, dp: 1024, sharding: "distributed", sequence_parallel: true } }));

writeFileSync(join(folder, "study.json"), JSON.stringify({ schema: "busbar.study/1", name: "Llama 2 7B: A100 or H100?", model: { preset: "llama-2-7b" }, batch: { sequence: 4096, global: 256 },
  tokens: "2e12 tokens", failures: { mtbf: "50000 h/GPU", storage: "1 GB/s", restart: "5 min" }, search: { simulate: 12 },
  clusters: [["DGX A100", "dgx-a100", "1.5", "6.5"], ["DGX H100", "dgx-h100", "2.5", "10.2"]].map(([name, type, price, power]) => ({ name, topology: { hosts: { type }, fabric: { family: "rail-optimized" } },
    gpus: "32:128:2", price: `${price} USD/GPU-hour`, power: `${power} kW/host` })) }));

const cases = [
  { page: ["simulate", "--topology", "cluster.json", "--workload", "llama405b.json"], pictures: [["step", "#page", 1000]] },
  { page: ["simulate", "--topology", "dgx16x8.json", "--workload", "gpt3-175b-tp8-pp8.json"], pictures: [["timeline", "#timeline", 760], ["overlap", "#overlap"]] },
  { page: ["simulate", "--topology", "h100-pcie-2x8.json", "--workload", "fsdp7b.json"], pictures: [["load", "#load"], ["links", "#links"]] },
  { page: ["simulate", "--topology", "dgx2x8.json", "--workload", "fsdp7b.json"], pictures: [["memory", "#memory"], ["collectives", "#collectives"], ["phone", "#page", 1300, "phone"]] },
  { page: ["simulate", "--topology", "dgx1x8.json", "--collective", "all_reduce", "--nccl-version", "2.29.2", "--measured", join(data, "collectives/h100c01_n1g8_all_reduce.csv"), "--sizes", "1K:16G:2"],
    pictures: [["sweep", "#page", 940, "dark"]] },
  { page: ["validate", "--suite", "steps", "--most-gpus", "64", "--every", "4", "--threads", "2"], pictures: [["validation", "#page", 1150]] },
  { page: ["calibrate", "--from", join(data, "collectives/h100c01_n1g8_all_reduce.csv"), "--collective", "all_reduce", "--ranks", "8", "--topology", "dgx1x8.json", "-o", "profile.json"],
    pictures: [["residuals", "#residuals"], ["intervals", "#intervals"]] },
  { page: ["plan", "study.json"], pictures: [["plan", "#page", 1180], ["pareto", "#pareto"]] },
];

const { chromium } = createRequire(join(modules, "package.json"))("playwright-core");
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
for (const { page, pictures } of cases) {
  const [program, ...words] = page;
  execFileSync(join(bin, program), [...words, "--html", "page.html", "--quiet"], { cwd: folder });
  for (const [name, selector, height, look] of pictures) {
    const view = await browser.newContext({ viewport: look === "phone" ? { width: 390, height: 844 } : { width: 1120, height: 900 }, colorScheme: look === "dark" ? "dark" : "light" });
    const tab = await view.newPage();
    await tab.goto(pathToFileURL(join(folder, "page.html")).href);
    await tab.waitForSelector("#page[data-ready]");
    await tab.evaluate(() => window.busbar.drawAll());
    const box = await tab.locator(selector).boundingBox();
    const edge = selector === "#page" ? 0 : 12;
    const left = Math.max(0, box.x - edge);
    await tab.screenshot({ path: join(here, `${name}.png`), fullPage: true,
      clip: { x: left, y: Math.max(0, box.y - edge), width: box.width + 2 * edge, height: Math.min(height ?? Infinity, box.height + 2 * edge) } });
    await view.close();
  }
}
await browser.close();
rmSync(folder, { recursive: true, force: true });
