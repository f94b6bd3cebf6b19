// Small helpers to build elements. Text is only ever set as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") for (const [type, listener] of Object.entries(value)) node.addEventListener(type, listener);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/** An HTML element; `on` holds listeners by type of event, all other names are attributes. */
export function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** An SVG element. */
export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

export function byId(id) {
  return document.getElementById(id);
}

/** Shows `text` in a region that may be live; hides the region when there is none. */
export function say(node, text) {
  if (node.textContent !== (text ?? "")) node.textContent = text ?? "";
  node.hidden = !text;
}

/** True if a key press is meant for the page: no modifier, not in a field, not held down. */
export function isPlainKey(event) {
  if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey || event.repeat) return false;
  if (event.defaultPrevented || event.isComposing) return false;
  return !event.target.closest?.("input:not([type=checkbox]), select, textarea, [contenteditable]");
}

/** True if the element with the focus reacts to Enter by itself. */
export function actsOnEnter(target) {
  return Boolean(target.closest?.("a, button, summary, input, select, textarea"));
}
