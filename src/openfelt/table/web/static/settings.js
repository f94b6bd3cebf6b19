// Settings of the table: stored in this browser, changed in a dialog, the same on all pages.

import { byId, el } from "./dom.js";
import { read, write } from "./storage.js";

const KEY = "felt.settings";
export const DELAYS = { slow: 1300, normal: 650, fast: 250, instant: 0 }; // milliseconds per event

const FIELDS = [
  { name: "speed", text: "Speed of the bots and the cards", usual: "normal", choices: Object.keys(DELAYS) },
  { name: "units", text: "Amounts in hold'em", usual: "chips", choices: ["chips", "big blinds"] },
  { name: "made", text: "Name my hand", usual: true },
  { name: "odds", text: "Show pot odds", usual: true },
  { name: "folded", text: "Show folded hands after a hand", usual: false },
  { name: "equity", text: "Show equities in the review", usual: true },
  { name: "autodeal", text: "Deal the next hand automatically", usual: false },
  { name: "sound", text: "Sounds", usual: false },
];

function sound(field, value) {
  return field.choices ? field.choices.includes(value) : typeof value === "boolean";
}

/** All settings by name; what is not stored, or not valid, has its default. */
export function settings() {
  const stored = read(KEY, {}) ?? {};
  return Object.fromEntries(FIELDS.map((field) => [field.name, sound(field, stored[field.name]) ? stored[field.name] : field.usual]));
}

function change(name, value, changed) {
  write(KEY, { ...settings(), [name]: value });
  changed(settings());
}

function fieldView(field, values, changed) {
  const id = `setting-${field.name}`;
  if (field.choices) {
    const options = field.choices.map((choice) => el("option", { value: choice, selected: choice === values[field.name] }, choice));
    const select = el("select", { id, on: { change: (event) => change(field.name, event.target.value, changed) } }, options);
    return el("label", { class: "setting", for: id }, el("span", {}, field.text), select);
  }
  const box = el("input", { id, type: "checkbox", checked: values[field.name] });
  box.addEventListener("change", () => change(field.name, box.checked, changed));
  return el("label", { class: "setting", for: id }, el("span", {}, field.text), box);
}

/** A dialog with a title and a button that closes it; a click beside it closes it too. */
export function openDialog(id, title, ...content) {
  byId(id)?.remove();
  const close = el("button", { type: "button", class: "button button-small", on: { click: () => dialog.close() } }, "Close");
  const head = el("h2", { id: `${id}-title` }, title);
  const dialog = el("dialog", { id, class: "dialog", "aria-labelledby": `${id}-title` }, head, ...content, el("p", { class: "dialog-end" }, close));
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

/** The dialog of the settings with these names; `changed(settings)` is called after each change. */
export function openSettings(names, changed) {
  const values = settings();
  const fields = FIELDS.filter((field) => names.includes(field.name)).map((field) => fieldView(field, values, changed));
  openDialog("settings", "Settings", el("div", { class: "setting-list" }, fields));
}

/** The dialog of the keys: [key, what it does]. */
export function openKeys(keys) {
  const terms = keys.flatMap(([key, text]) => [el("dt", {}, key.split(" ").map((each) => el("kbd", {}, each))), el("dd", {}, text)]);
  openDialog("keys", "Keys", el("dl", { class: "key-list" }, terms));
}
