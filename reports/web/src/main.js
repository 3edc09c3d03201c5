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

async function start() {
  const record = JSON.parse(document.getElementById("record").textContent);
  const page = pages[record.schema];
  if (!page) throw new Error(`no page shows ${record.schema}`);
  const packed = document.getElementById("packed");
  await page(record, packed ? () => unpacked(packed.textContent.trim()) : async () => record);
}

start().catch((error) => {
  document.getElementById("page").append(h("p", { class: "warning" }, `This page could not be drawn: ${error.message}`));
  throw error;
});
