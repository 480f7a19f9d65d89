// Keeps a live page honest: no row twice, at most sixty of each sort, one ask open, a notice when the stream is down.
(() => {
  const MOST = 60;
  const feed = () => document.getElementById("feed");
  const title = document.title;

  const trim = () => {
    const list = feed();
    if (!list) return;
    const seen = new Set();
    let stones = 0;
    for (const row of [...list.children]) {
      const engine = row.classList.contains("engine");
      if (seen.has(row.dataset.seq) || (engine ? seen.size : stones) >= MOST) row.remove();
      else { seen.add(row.dataset.seq); stones += engine ? 0 : 1; }
    }
  };
  const count = () => {
    const asks = document.querySelectorAll("#asks [data-ask]").length;
    document.title = asks ? `(${asks}) ${title}` : title;
  };
  const follow = () => {
    for (const box of document.querySelectorAll("[data-follow]")) {
      if (box.dataset.away !== "yes") box.scrollTop = box.scrollHeight;
      const lines = box.querySelector(".lines");
      while (lines && lines.children.length > 2000) lines.firstElementChild.remove();
    }
  };
  const lost = (is) => {
    const bar = document.getElementById("lost");
    if (bar) bar.hidden = !is;
  };

  // What a message draws anew arrives folded, because what a reader opened or closed stays as it is: open it once.
  const met = new WeakSet();
  const unfold = () => {
    for (const box of document.querySelectorAll("details[data-opens]")) if (!met.has(box)) { met.add(box); box.open = true; }
  };
  // One ask is open at a time. When it was settled, here or elsewhere, the next one opens in its place.
  let open = "", within = false;
  const asks = () => [...document.querySelectorAll("#asks .ask")];
  const next = () => {
    if (!open || document.getElementById(open)) return;
    const first = asks()[0];
    open = first?.id ?? "";
    if (!first) return;
    first.open = true;
    if (within && document.activeElement === document.body) first.querySelector("summary").focus({ preventScroll: true });
  };
  document.addEventListener("toggle", (event) => {
    if (!event.target.matches("#asks .ask")) return;
    if (event.target.open) open = event.target.id;
    else if (open === event.target.id) open = "";
  }, true);
  document.addEventListener("focusin", (event) => { within = Boolean(event.target.closest("#asks")); });
  document.addEventListener("click", (event) => {
    const group = event.target.closest(".counts a")?.hash;
    const box = group && document.querySelector(group);
    if (box?.matches("details")) box.open = true;
    for (const panel of document.querySelectorAll(".panel[open]")) if (!panel.contains(event.target)) panel.open = false;
  });

  // The lanes' names stay at the left edge of a picture that is wider than its box.
  function pin() {
    for (const names of document.querySelectorAll(".scroller .names")) {
      const picture = names.ownerSVGElement;
      names.setAttribute("transform", `translate(${(picture.closest(".scroller").scrollLeft * picture.viewBox.baseVal.width) / picture.clientWidth})`);
    }
  }
  document.addEventListener("scroll", (event) => { if (event.target.matches?.(".scroller")) pin(); }, { capture: true, passive: true });
  addEventListener("resize", pin);

  document.addEventListener("htmx:after:swap", () => { trim(); count(); follow(); unfold(); next(); pin(); });
  document.addEventListener("DOMContentLoaded", () => {
    trim(); count(); follow(); unfold();
    const named = document.getElementById(location.hash.slice(1));
    if (named?.matches("details")) { named.open = true; named.scrollIntoView({ block: "start" }); }
    open = document.querySelector("#asks .ask[open]")?.id ?? "";
    for (const box of document.querySelectorAll(".scroller")) box.scrollLeft = box.scrollWidth; // now is on the right
    pin();
    for (const box of document.querySelectorAll("[data-follow]"))
      box.addEventListener("scroll", () => { box.dataset.away = box.scrollHeight - box.scrollTop - box.clientHeight > 40 ? "yes" : "no"; }, { passive: true });
  });

  // A browser leaves a focused link of a picture where it is when a hair of it touches the box that scrolls.
  document.addEventListener("focusin", (event) => {
    if (event.target.matches(".scroller a:focus-visible")) event.target.scrollIntoView({ block: "nearest", inline: "nearest" });
  });

  // A stream that ends says so once and tries again by itself; the first answer after that hides the bar.
  document.addEventListener("htmx:sse:after:connection", () => lost(false));
  document.addEventListener("htmx:sse:error", () => lost(true));
  document.addEventListener("htmx:sse:before:connection", (event) => { if (event.detail.connection.attempt > 0) lost(true); });
  document.addEventListener("htmx:sse:close", (event) => { if (event.detail.reason === "message") lost(false); });
  // A batch the server could not draw: the page is reloaded, at most once a minute.
  document.addEventListener("unpainted", () => {
    const last = Number(sessionStorage.getItem("redrawn") || 0);
    if (Date.now() - last < 60000) return;
    sessionStorage.setItem("redrawn", String(Date.now()));
    location.reload();
  });
  // The very first connection is an ordinary request and is not repeated by the extension.
  const first = (event) => {
    const from = event.detail?.ctx?.sourceElement;
    if (!from?.hasAttribute?.("hx-sse:connect") || from._htmx?.sse) return;
    lost(true);
    setTimeout(() => location.reload(), 5000);
  };
  document.addEventListener("htmx:error", first);
  document.addEventListener("htmx:response:error", first);

  // What went wrong is said beside what was pressed, and is no longer true after a new attempt.
  const beside = (pressed) => {
    const place = pressed?.closest?.("form, .controls, .acts");
    const known = place?.querySelector(":scope > .beside") ?? place?.closest("form, .controls")?.querySelector(":scope > .beside");
    if (known || !place) return known ?? document.getElementById("problem");
    const made = document.createElement("div");
    made.className = "beside";
    made.setAttribute("role", "alert");
    place.append(made);
    return made;
  };
  document.addEventListener("htmx:before:request", (event) => {
    if (event.detail?.ctx?.request?.method === "GET") return;
    for (const said of document.querySelectorAll("#problem, .beside")) said.replaceChildren();
  });
  document.addEventListener("htmx:response:error", (event) => {
    const ctx = event.detail?.ctx;
    if (ctx?.hx?.retarget === "#problem") ctx.hx.retarget = beside(ctx.sourceElement);
  });
  document.addEventListener("htmx:error", (event) => {
    const from = event.detail?.ctx?.sourceElement;
    if (from?.hasAttribute?.("hx-sse:connect")) return;
    const words = document.createElement("p");
    words.className = "problem";
    words.textContent = "The server did not answer, so nothing was changed for certain. Wait a moment and try again.";
    beside(from)?.replaceChildren(words);
  });
  document.addEventListener("htmx:after:request", (event) => {
    const form = event.detail?.ctx?.sourceElement;
    if (!form?.matches?.("form[data-clears]") || event.detail.ctx.response?.status >= 400) return;
    form.reset();
    const panel = form.closest(".panel");
    if (panel) panel.open = false;
  });
})();
