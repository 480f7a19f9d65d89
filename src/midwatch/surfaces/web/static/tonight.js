// The field "until" is on the reader's own clock: shows a moment in their zone and sends the server that zone.
(() => {
  const local = (at) => new Date(at - at.getTimezoneOffset() * 60000).toISOString().slice(0, 16);
  const set = () => {
    for (const one of document.querySelectorAll("input[data-utc]")) {
      one.value = local(new Date(one.dataset.utc));
      one.removeAttribute("data-utc");
    }
    for (const one of document.querySelectorAll("input[data-zone]")) one.value = Intl.DateTimeFormat().resolvedOptions().timeZone;
  };
  document.addEventListener("DOMContentLoaded", set);
  document.addEventListener("htmx:after:swap", set);
})();
