// One page per record: its schema says which.
import { h } from "./dom.js";
import { stepPage } from "./pages/step.js";
import { sweepPage } from "./pages/sweep.js";
import { validationPage } from "./pages/validation.js";
import { calibrationPage, comparisonPage, healthPage } from "./pages/calibration.js";
import { studyPage } from "./pages/study.js";
import { unpacked } from "./packed.js";

const pages = {
  "busbar.result/1": stepPage,
  "busbar.sweep/1": sweepPage,
  "busbar.validation/1": validationPage,
  "busbar.calibration/1": calibrationPage,
  "busbar.comparison/1": comparisonPage,
  "busbar.health/1": healthPage,
  "busbar.study/1": studyPage,
  "busbar.study-result/1": studyPage,
};

// Names may hold characters that turn the reading direction of all that follows, figures included: they are shown
// as what they are, as in a terminal.
const kTurns = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const visible = (text) => text.replace(kTurns, (c) => `\\u${c.charCodeAt(0).toString(16)}`);

function recordOf(text) {
  if (text.search(kTurns) < 0) return JSON.parse(text);
  return JSON.parse(text, (key, value) => (typeof value === "string" ? visible(value) : value));
}

async function start() {
  const record = recordOf(document.getElementById("record").textContent);
  const page = pages[record.schema];
  if (!page) throw new Error(`no page shows ${record.schema}`);
  const packed = document.getElementById("packed");
  await page(record, packed ? () => unpacked(packed.textContent.trim()) : async () => record);
}

start().catch((error) => {
  document.getElementById("page").append(h("p", { class: "warning" }, `This page could not be drawn: ${error.message}`));
  throw error;
});
