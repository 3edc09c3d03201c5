// Tables as CSV: units in the header, quotes where needed, texts that a spreadsheet would run disarmed.

function cell(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function csvOf(columns, rows) {
  const header = columns.map((c) => cell(c.unit ? `${c.name} (${c.unit})` : c.name)).join(",");
  return [header, ...rows.map((row) => columns.map((c) => cell(c.value(row))).join(","))].join("\n") + "\n";
}

export function download(name, text) {
  const url = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}
