// Elements from data. Text only ever enters as text nodes and attributes, so names cannot become markup.

/** h("p", { class: "says" }, "text", element, ...): null and undefined children are left out. */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  add(element, children);
  return element;
}

export function add(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}

/** A figure of the record: <data> keeps its exact value and the JSON pointer that it came from. */
export function figureOf(text, value, from) {
  return h("data", { value, "data-from": from }, text);
}

/** "Step time" -> "step-time". */
export function slug(text) {
  return text.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
}
