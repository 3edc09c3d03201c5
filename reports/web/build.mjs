// Bundles the pages and writes them as a C++ source: node build.mjs MODULES OUTPUT.cpp
// MODULES: the folder into which `npm ci` has put node_modules. Exits with 1 and a message on any warning.
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { writeFileSync } from "node:fs";

const [modules, output] = process.argv.slice(2).map((path) => resolve(path));
const here = dirname(fileURLToPath(import.meta.url));
const esbuild = createRequire(join(modules, "package.json"))("esbuild");

// g++ takes strings of any length, the standard promises 65,536 characters: pieces stay below that.
const kPiece = 60000;

async function bundled(entry, loader) {
  const result = await esbuild.build({
    entryPoints: [join(here, entry)],
    bundle: true,
    minify: true,
    write: false,
    charset: "ascii",
    legalComments: "inline",
    format: "iife",
    target: ["chrome100", "firefox100", "safari15.4"],
    nodePaths: [join(modules, "node_modules")],
    loader,
  });
  if (result.warnings.length > 0) throw new Error(JSON.stringify(result.warnings));
  return result.outputFiles[0].text;
}

// What would end the element that the text stands in, or begin one that hides its end.
function checkEmbeddable(name, text) {
  const found = text.match(/<\/(script|style)|<!--/i);
  if (found) throw new Error(`${name} has ${found[0]}, which would end its element`);
  // eslint-disable-next-line no-control-regex
  if (/[^\x00-\x7f]/.test(text)) throw new Error(`${name} is not plain ASCII`);
}

function literal(text) {
  const pieces = [];
  for (let i = 0; i < text.length; i += kPiece) pieces.push(`R"~~page~~(${text.slice(i, i + kPiece)})~~page~~"`);
  return pieces.length > 0 ? pieces.join("\n") : '""';
}

const script = await bundled("src/main.js", {});
const style = await bundled("src/style.css", {});
checkEmbeddable("the script", script);
checkEmbeddable("the style sheet", style);
writeFileSync(
  output,
  `// Written by reports/web/build.mjs.
#include "reports/web_bundle.h"

namespace busbar {

WebBundle web_bundle() {
  static constexpr char script[] =
${literal(script)};
  static constexpr char style[] =
${literal(style)};
  return {.script = {script, sizeof script - 1}, .style = {style, sizeof style - 1}, .missing = {}};
}

}  // namespace busbar
`,
);
console.log(`page: script ${script.length} bytes, style ${style.length} bytes`);
