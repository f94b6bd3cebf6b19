// Sets the theme before the first paint, so it is a plain script in the head, not a module.
(() => {
  try {
    const theme = localStorage.getItem("felt.theme");
    if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme;
  } catch {
    // Storage may be switched off; the theme of the system is used then.
  }
})();
