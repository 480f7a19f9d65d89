// The review one item at a time: A E R D judge, J K move, M merges the stack. Verdicts stay in the form until it is submitted.
(() => {
  let at = 1;
  const page = () => document.querySelector(".morning-page");
  const items = () => [...document.querySelectorAll(".item")];
  const fields = () => [...(document.getElementById("review")?.elements ?? [])].filter((one) => one.name && one.type !== "hidden");
  const store = (write) => { try { return write(sessionStorage); } catch { return null; } }; // a private window may keep nothing
  const key = () => `review:${page().dataset.report}`;

  function go(to, focus) {
    const all = items();
    if (!all.length) return;
    at = Math.min(Math.max(to, 1), all.length);
    all.forEach((one, place) => one.classList.toggle("here", place + 1 === at));
    document.getElementById("at").textContent = at;
    document.querySelectorAll(".place").forEach((one) => (Number(one.dataset.to) === at ? one.setAttribute("aria-current", "true") : one.removeAttribute("aria-current")));
    if (!focus) return;
    all[at - 1].focus({ preventScroll: true });
    document.getElementById("queue").scrollIntoView({ block: "start" });
  }

  function tell() {
    let given = 0;
    items().forEach((item, place) => {
      const chosen = item.querySelector(".choice input:checked")?.value ?? "";
      const field = item.querySelector(".why-field");
      if (!field) return;
      given += chosen ? 1 : 0;
      for (const one of item.querySelectorAll("[data-for]")) one.hidden = !one.dataset.for.split(" ").includes(chosen);
      const button = document.querySelector(`.place[data-to="${place + 1}"]`);
      button.dataset.outcome = chosen || "pending";
      button.setAttribute("aria-label", `Item ${place + 1}, ${button.dataset.title}, ${chosen || "no verdict yet"}`);
    });
    const count = document.getElementById("given");
    if (count) count.textContent = given;
  }

  function keep() {
    const said = fields().filter((one) => (one.type === "radio" || one.type === "checkbox" ? one.checked : one.value)).map((one) => [one.name, one.value]);
    store((kept) => kept.setItem(key(), JSON.stringify(said)));
  }

  function recall() {
    const said = JSON.parse(store((kept) => kept.getItem(key())) ?? "[]");
    for (const [name, value] of said)
      for (const one of fields().filter((field) => field.name === name))
        if (one.type === "radio" || one.type === "checkbox") one.checked ||= one.value === value;
        else one.value = value;
  }

  function judge(letter) {
    const item = items()[at - 1];
    const choice = item?.querySelector(`.choice input[data-key="${letter}"]`);
    if (!choice || !choice.offsetParent) return; // not for this reader
    choice.checked = true;
    choice.dispatchEvent(new Event("change", { bubbles: true }));
    if (letter === "E" || letter === "R") item.querySelector(".why-field textarea").focus();
    else forward();
  }

  function forward() {
    if (at < items().length) go(at + 1, true);
    else document.querySelector(".rating input")?.focus();
  }

  function merge() {
    const button = [...document.querySelectorAll(".pile [data-key=M]")].find((one) => one.offsetParent);
    if (!button) return;
    button.closest(".pile").scrollIntoView({ block: "nearest" });
    if ("proven" in button.closest(".pile").dataset) button.click();
    else button.focus(); // what no check has proven takes a second key
  }

  function keys() {
    const shown = document.getElementById("keys");
    if (!shown) return;
    shown.hidden = !shown.hidden;
    document.getElementById("keys-button").setAttribute("aria-expanded", String(!shown.hidden));
  }

  function pressed(event) {
    if (!page() || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const typing = event.target.closest?.("textarea, select, input:not([type=radio], [type=checkbox])");
    if (typing) {
      if (event.key === "Escape") items()[at - 1]?.focus();
      if (event.key === "Enter" && !event.shiftKey && typing.closest(".why-field")) { event.preventDefault(); forward(); }
      return;
    }
    const letter = event.key.toUpperCase();
    if ("AERD".includes(letter) && letter.length === 1) judge(letter);
    else if (letter === "J") go(at + 1, true);
    else if (letter === "K") go(at - 1, true);
    else if (letter === "S") items()[at - 1]?.querySelector(".diff-split")?.click();
    else if (letter === "M" && !event.repeat) merge();
    else if (event.key === "?") keys();
    else return;
    event.preventDefault();
  }

  function begin() {
    if (!page() || "ready" in page().dataset) return;
    page().dataset.ready = "";
    if (document.getElementById("review")) recall();
    else store((kept) => kept.removeItem(key()));
    go(at, false);
    tell();
  }

  document.addEventListener("change", (event) => { if (event.target.form?.id === "review") { tell(); keep(); } });
  document.addEventListener("input", (event) => { if (event.target.form?.id === "review") keep(); });
  document.addEventListener("click", (event) => {
    const place = event.target.closest(".place, .listed a");
    if (place) { event.preventDefault(); go(Number(place.dataset.to), true); }
    else if (event.target.closest("#keys-button")) keys();
  });
  document.addEventListener("keydown", pressed);
  document.addEventListener("htmx:after:swap", () => {
    if (!page() || "ready" in page().dataset) return; // only a part of the page is new
    at = 1;
    begin();
    document.getElementById("changed")?.focus();
  });
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin); else begin();
})();
