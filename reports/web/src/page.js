// What all pages share: head, answer, theme, printing.
import { h, add } from "./dom.js";
import { drawAll } from "./chart.js";
import { unpacked } from "./packed.js";
import { themeChanged } from "./theme.js";

/** `answer`: sentences that stand first. */
export function open({ kicker, title, subtitle, answer }) {
  document.title = title;
  const page = document.getElementById("page");
  page.replaceChildren();
  add(page, [
    h("header", {},
      h("div", { class: "bar" }, h("p", { class: "kicker" }, kicker), themeButton()),
      h("h1", {}, title), subtitle ? h("p", { class: "subtitle" }, subtitle) : null),
    h("section", { class: "answer", "aria-label": "The answer" }, answer.filter(Boolean).map((s) => h("p", {}, s))),
  ]);
  return page;
}

export function close(page, record) {
  add(page, [h("footer", {},
    h("p", {}, `Written by Busbar ${record.version ?? ""}`.trim(),
      record.model_version ? `, model ${record.model_version}` : "",
      ". A prediction is as good as its inputs; what stands behind this one is listed above."),
    h("p", {}, h("button", { type: "button", class: "quiet", onclick: () => saveRecord() }, "Download the record (JSON)"),
      " ", h("button", { type: "button", class: "quiet", onclick: () => window.print() }, "Print")))]);
  page.dataset.ready = "yes";
}

// The long lists of a step stand apart: whoever takes the record gets them too.
async function wholeRecord() {
  const text = document.getElementById("record").textContent;
  const packed = document.getElementById("packed");
  if (!packed) return text;
  const { timeline, critical_path } = await unpacked(packed.textContent.trim());
  return JSON.stringify({ ...JSON.parse(text), critical_path, timeline });
}

async function saveRecord() {
  const url = URL.createObjectURL(new Blob([await wholeRecord()], { type: "application/json" }));
  const link = h("a", { href: url, download: "busbar.json" });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

// Without a choice the page follows the system.
function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function themeButton() {
  const button = h("button", { type: "button", class: "quiet theme" });
  const label = () => (button.textContent = isDark() ? "Light" : "Dark");
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    label();
    themeChanged();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    label();
    themeChanged();
  });
  label();
  return button;
}

let before = null;
window.addEventListener("beforeprint", () => {
  before = document.documentElement.dataset.theme ?? "";
  document.documentElement.dataset.theme = "light";
  themeChanged();
  drawAll();
});
window.addEventListener("afterprint", () => {
  if (before) document.documentElement.dataset.theme = before;
  else delete document.documentElement.dataset.theme;
  themeChanged();
});
window.busbar = { drawAll, unpacked };
