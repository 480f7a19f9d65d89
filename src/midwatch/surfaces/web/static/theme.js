// Dark or light: the page's own unless the reader chose. Runs before the first paint, so that nothing flashes.
(() => {
  const root = document.documentElement;
  let chosen = null;
  try { chosen = localStorage.getItem("theme"); } catch { /* a private window may keep nothing */ }
  if (chosen === "dark" || chosen === "light") root.dataset.theme = chosen;
  const now = () => root.dataset.theme || (root.dataset.page === "morning" ? "light" : "dark");
  const name = (button) => { button.textContent = now() === "dark" ? "Light" : "Dark"; button.title = "Switch between light and dark"; };
  document.addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    if (!button) return;
    button.hidden = false;
    name(button);
    button.addEventListener("click", () => {
      root.dataset.theme = now() === "dark" ? "light" : "dark";
      try { localStorage.setItem("theme", root.dataset.theme); } catch { /* then it holds for this page only */ }
      name(button);
    });
  });
})();
