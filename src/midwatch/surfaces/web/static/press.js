// A press made before htmx has taken the page in is kept and made again; a browser would send the form its own way, or do nothing.
(() => {
  const ours = ":is([hx-post], [hx-get])";
  let kept = new Map();
  const keep = (event, pressed, again) => {
    if (!kept || !pressed?.matches(ours)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    kept.set(pressed, again);
  };
  document.addEventListener("submit", (event) => {
    const form = event.target;
    // One that sends itself when it is loaded needs no press.
    keep(event, form, form.matches("[hx-trigger*=load]") ? () => {} : () => form.requestSubmit(event.submitter));
  }, true);
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button, a");
    keep(event, button, () => button.click());
  }, true);
  document.addEventListener("DOMContentLoaded", () => setTimeout(() => { // after htmx, which begins in the same moment
    const presses = kept;
    kept = null;
    for (const [pressed, again] of presses) {
      if (pressed.matches("[data-htmx-powered]")) again();
      else document.getElementById("problem").textContent = "The page did not load whole, so nothing was done. Load it again.";
    }
  }));
})();
