// A press before htmx has processed the page is kept and repeated; a browser would send the form its own way, or do nothing.
(() => {
  const ours = ":is([hx-post], [hx-get])";
  let kept = new Map();
  const missed = () => {
    const words = document.createElement("p");
    words.className = "problem";
    words.textContent = "The page did not load whole, so nothing was done. Load it again.";
    document.getElementById("problem").replaceChildren(words);
  };
  const keep = (event, pressed, again) => {
    if (!pressed?.matches(ours) || (!kept && window.htmx)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (kept) kept.set(pressed, again);
    else missed();
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
      else missed();
    }
  }));
})();
