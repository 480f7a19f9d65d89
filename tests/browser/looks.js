// What test_looks.py asks of a page. Evaluated inside it, after axe-core.
window.looks = {
  async axe() {
    const runOnly = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
    const found = await axe.run(document, { runOnly, resultTypes: ["violations"] });
    if (found.passes.length < 5) throw new Error("axe looked at nothing");
    return found.violations.flatMap((v) => v.nodes.map((n) => `${v.id}: ${n.target} ${n.failureSummary.slice(0, 200)}`));
  },

  choose(theme) {
    const now = () => getComputedStyle(document.documentElement).colorScheme;
    if (now() !== theme) document.getElementById("theme").click();
    if (now() !== theme) throw new Error(`the button does not lead to ${theme}`);
  },

  tooWide: () => document.documentElement.scrollWidth - document.documentElement.clientWidth,

  // Amber by hue, whatever token it came from. Every colour of ours is in oklch; paper has that hue too, but hardly any of it.
  amber() {
    const allowed = ".ask, .primary, .wanted, .warn, .lane-ask.going";
    const amber = (colour) => {
      const part = /^oklch\(([\d.]+) ([\d.]+) ([\d.]+)/.exec(colour);
      return part && part[2] >= 0.045 && part[3] >= 45 && part[3] <= 100;
    };
    const written = (one) => [...one.childNodes].some((n) => n.nodeType === Node.TEXT_NODE && n.data.trim());
    const lit = (one, pseudo) => {
      const style = getComputedStyle(one, pseudo);
      if (pseudo && style.content === "none") return false;
      if ((pseudo || written(one)) && amber(style.color)) return true;
      if (amber(style.backgroundColor)) return true;
      if (one instanceof SVGElement && (amber(style.fill) || amber(style.stroke))) return true;
      return ["Top", "Right", "Bottom", "Left"].some((side) => parseFloat(style[`border${side}Width`]) && amber(style[`border${side}Color`]));
    };
    const shown = [...document.body.querySelectorAll("*")].filter((one) => one.checkVisibility());
    const all = shown.filter((one) => [null, "::before", "::after"].some((pseudo) => lit(one, pseudo)));
    const strays = all.filter((one) => !one.closest(allowed)).map((one) => `${one.tagName.toLowerCase()}.${one.getAttribute("class") ?? ""}`);
    return { lit: all.length, strays };
  },

  controls: () => [...document.querySelectorAll("main :is(button, input, select, textarea, form)")]
    .filter((one) => one.checkVisibility()).map((one) => one.outerHTML.slice(0, 90)),

  // A group of radio buttons is one stop of the Tab key.
  stop: (one) => (one.type === "radio" ? `radio ${one.name}` : one),

  // Begin a walk with the Tab key; gives how many stops there have to be.
  begin() {
    const all = [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")];
    const usable = (one) => one.checkVisibility({ visibilityProperty: true }) && !one.disabled && one.type !== "hidden" && one.tabIndex >= 0;
    looks.wanted = new Map(all.filter(usable).map((one) => [looks.stop(one), one]));
    looks.reached = new Set();
    looks.changes?.disconnect();
    looks.changes = new MutationObserver(() => { looks.changed = true; });
    looks.changes.observe(document.body, { childList: true, characterData: true, subtree: true });
    looks.changed = looks.around = false;
    looks.problems = [];
    document.removeEventListener("keyup", looks.step, true);
    document.addEventListener("keyup", looks.step, true);
    document.querySelector(".skip").focus();
    return looks.wanted.size;
  },

  // Move the picture's last link so far that it ends a hair before the box that scrolls begins, and stand before it.
  toTheEdge() {
    const one = [...document.querySelectorAll(".scroller a")].at(-1), rect = one.querySelector("rect"), box = one.closest(".scroller");
    document.querySelector(".scroller").focus();
    box.scrollLeft = box.scrollWidth;
    const scale = one.getBoundingClientRect().width / rect.width.baseVal.value;
    const beyond = box.getBoundingClientRect().left - 0.3 - one.getBoundingClientRect().right;
    rect.setAttribute("x", rect.x.baseVal.value + beyond / scale);
    const place = [...document.querySelectorAll(".scroller a")].at(-2);
    place.focus({ preventScroll: true });
    box.scrollLeft = box.scrollWidth;
  },

  // The part of a thing that neither the window nor a box that scrolls cuts off.
  shown(one) {
    let { left, top, right, bottom } = one.getBoundingClientRect();
    const cut = (by) => { left = Math.max(left, by.left); top = Math.max(top, by.top); right = Math.min(right, by.right); bottom = Math.min(bottom, by.bottom); };
    for (let up = one.parentElement; up && up !== document.body; up = up.parentElement)
      if (getComputedStyle(up).overflowX !== "visible") cut(up.getBoundingClientRect());
    cut({ left: 0, top: 0, right: innerWidth, bottom: innerHeight });
    return { left, top, width: right - left, height: bottom - top };
  },

  // The key is up again: the focus is where the Tab key brought it. Nothing is judged after the walk came around.
  step(event) {
    if (event.key !== "Tab" || looks.around) return;
    const problem = looks.here();
    if (problem) looks.problems.push(problem);
    looks.around = document.activeElement.matches(".skip");
  },

  // Judge where the walk is now.
  here() {
    const one = document.activeElement, label = one.closest("label") ?? one;
    if (one === document.body) return "";
    looks.reached.add(looks.stop(one));
    const name = `${one.tagName.toLowerCase()} ${(one.ariaLabel || one.textContent || one.name || "").trim().slice(0, 40)}`;
    const said = (problem) => problem && `${problem}: ${name}`;
    const ringed = (it) => getComputedStyle(it).outlineStyle !== "none" && parseFloat(getComputedStyle(it).outlineWidth) >= 2;
    if (!ringed(one) && !ringed(label)) return said("no visible focus");
    const box = looks.shown(label);
    const spots = [[0.5, 0.5], [0.5, 0.1], [0.5, 0.9], [0.1, 0.5], [0.9, 0.5]].map(([x, y]) => [box.left + box.width * x, box.top + box.height * y]);
    const top = box.width > 0 && box.height > 0 ? spots.map(([x, y]) => document.elementFromPoint(x, y)) : [];
    return said(top.some((at) => at && (label.contains(at) || at.contains(label))) ? "" : "hidden under something");
  },

  // All that was wrong on the way, and what the way never came to.
  found: () => [...looks.problems, ...[...looks.wanted].filter(([stop, one]) => !looks.reached.has(stop) && one.isConnected).map(([, one]) => `never reached: ${one.outerHTML.slice(0, 90)}`)],
};
