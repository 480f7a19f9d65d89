// Writes every <time data-as="clock|second|date|relative|until|countdown|elapsed"> in the reader's own zone.
(() => {
  const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
  const second = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
  const date = new Intl.DateTimeFormat(undefined, { weekday: "short", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
  const span = (s) => {
    const m = Math.floor(s / 60), h = Math.floor(m / 60), d = Math.floor(h / 24);
    if (d >= 2) return `${d} days`;
    if (h) return `${h} h ${m % 60} min`;
    return m >= 10 ? `${m} min` : m ? `${m} min ${s % 60} s` : `${s} s`;
  };
  const said = {
    clock: (at) => clock.format(at),
    second: (at) => second.format(at),
    date: (at) => date.format(at),
    relative: (at, now) => {
      const s = Math.round((now - at) / 1000);
      if (Math.abs(s) < 45) return s < 0 ? "in a moment" : "just now";
      const words = span(Math.floor(Math.abs(s) / 60) * 60 || 60).replace(/ 0 s$/, "");
      return s < 0 ? `in ${words}` : `${words} ago`;
    },
    elapsed: (at, now) => span(Math.max(0, Math.floor((now - at) / 1000))),
    until: (at, now) => (at > now ? said.relative(at, now) : "now"),
    countdown: (at, now) => {
      const s = Math.ceil((at - now) / 1000);
      return s > 0 ? span(s) : "no time left";
    },
  };
  const write = (only) => {
    const now = Date.now();
    for (const one of document.querySelectorAll(only)) {
      const at = new Date(one.getAttribute("datetime")), words = said[one.dataset.as];
      if (!words || isNaN(at)) continue;
      const text = words(at, now);
      if (one.textContent !== text) one.textContent = text;
      if (one.title === "") one.title = at.toLocaleString();
    }
  };
  const all = () => write("time[data-as], text[data-as]");
  document.addEventListener("DOMContentLoaded", all);
  document.addEventListener("htmx:after:swap", all);
  setInterval(() => {
    write("time[data-as=relative], time[data-as=countdown], time[data-as=elapsed], time[data-as=until]");
    for (const one of document.querySelectorAll("meter[data-from]")) {
      const from = Date.parse(one.dataset.from), to = Date.parse(one.dataset.to);
      one.value = one.max * Math.min(1, Math.max(0, (Date.now() - from) / (to - from)));
    }
  }, 1000);
  if (document.readyState !== "loading") all();
})();
