// node run.mjs GROUP BIN MODULES: runs the cases of GROUP_test.mjs against the programs in BIN, in headless Chromium.
// Exits with 77, which ctest shows as skipped, where there is no Chromium or Busbar has no pages.
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const [group, ...folders] = process.argv.slice(2);
const [bin, modules] = folders.map((path) => resolve(path));
const executablePath = process.env.CHROMIUM ?? ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
const skip = (why) => {
  console.log(`skipped: ${why}`);
  process.exit(77);
};
if (!executablePath) skip("no Chromium is installed (Debian: chromium)");
if (!existsSync(join(modules, "node_modules/playwright-core"))) skip("npm could not fetch playwright-core when Busbar was built");

const { chromium } = createRequire(join(modules, "package.json"))("playwright-core");
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
const folder = mkdtempSync(join(tmpdir(), "busbar-web-"));
let failed = 0;
try {
  const { cases } = await import(`./${group}_test.mjs`);
  for (const [name, run] of Object.entries(cases)) {
    try {
      await run({ browser, bin, folder });
      console.log(`ok: ${name}`);
    } catch (error) {
      failed += 1;
      console.log(`FAILED: ${name}\n${error.stack}`);
    }
  }
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}
process.exit(failed > 0 ? 1 : 0);
