// Shared by all pages: the switch between light and dark theme.

import { byId } from "./dom.js";

const root = document.documentElement;

function isDark() {
  if (root.dataset.theme) return root.dataset.theme === "dark";
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

function showTheme(button) {
  const dark = isDark();
  button.setAttribute("aria-label", dark ? "Use the light theme" : "Use the dark theme");
  button.title = button.getAttribute("aria-label");
  button.textContent = dark ? "\u2600\ufe0e" : "\u263e\ufe0e";
}

function switchTheme(button) {
  root.dataset.theme = isDark() ? "light" : "dark";
  try {
    localStorage.setItem("felt.theme", root.dataset.theme);
  } catch {
    // Storage is off: the choice applies to this page only.
  }
  showTheme(button);
}

const button = byId("theme");
button.addEventListener("click", () => switchTheme(button));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => showTheme(button));
showTheme(button);
