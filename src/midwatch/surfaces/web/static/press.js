// A press made before htmx has taken the page in is kept and made again; a browser would send the form its own way, or do nothing.
(() => {
  const untaken = "[hx-post]:not([data-htmx-powered])";
  const kept = new Map();
  const keep = (event, pressed, again) => {
    event.preventDefault();
    event.stopImmediatePropagation();
    kept.set(pressed, again);
  };
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.matches(untaken)) keep(event, form, () => form.requestSubmit(event.submitter));
  }, true);
  document.addEventListener("click", (event) => {
    const button = event.target.closest(untaken);
    if (button && button.tagName !== "FORM") keep(event, button, () => button.click());
  }, true);
  document.addEventListener("htmx:after:init", (event) => {
    const again = kept.get(event.target);
    kept.delete(event.target);
    again?.();
  });
})();
