"use strict";
// Which partition the timeline shows, the steps of its story played one by one, its tables, and links into the page.
(() => {
  const panel = report.panel;
  const places = new Map(report.data.panels.map(([anchor], place) => [anchor, place]));
  const WAIT = 2200; // milliseconds between two steps while they play

  // -- the steps -----------------------------------------------------------------------------------------------------
  class Player {
    constructor(node) {
      this.node = node;
      this.said = node.querySelector(".playing");
      this.run = node.querySelector("[data-play=run]");
      for (const button of node.querySelectorAll("[data-play]")) {
        button.addEventListener("click", () => (button === this.run ? this.toggle() : this.move(Number(button.dataset.play))));
      }
    }

    load(steps) {
      this.stop();
      this.steps = steps;
      this.at = -1;
      this.node.hidden = !steps.length;
      this.said.textContent = steps.length === 1 ? "1 step" : steps.length + " steps";
    }

    toggle() {
      if (this.timer) { this.stop(); return; }
      if (this.at >= this.steps.length - 1) this.at = -1;
      this.run.setAttribute("aria-pressed", "true");
      this.run.textContent = "Stop";
      this.move(1, true);
      this.timer = setInterval(() => {
        if (this.at >= this.steps.length - 1) this.stop();
        else this.move(1, true);
      }, WAIT);
    }

    stop() {
      clearInterval(this.timer);
      this.timer = null;
      this.run.setAttribute("aria-pressed", "false");
      this.run.textContent = "Play";
    }

    move(by, playing) {
      if (!playing) this.stop();
      this.go(Math.min(Math.max(this.at + by, 0), this.steps.length - 1));
    }

    // All lanes and the logs side by side at one step.
    async go(at) {
      const step = this.steps[at];
      if (!step) return;
      this.at = at;
      const when = step.time !== null ? ", " + report.clock(panel.told.zero + step.time) + " " + report.zoneName() : step.on_disk ? ", on disk" : "";
      const who = step.who ? step.who + " " : "";
      const text = document.createElement("span");
      text.textContent = `Step ${step.number} of ${this.steps.length}${when}: ${who}${step.text}`;
      this.said.replaceChildren(text);
      if (step.time === null) {
        if (step.on_disk) panel.logs.last();
        return;
      }
      const [left, right] = panel.range;
      if (step.time < left || step.time > right) {
        const half = (right - left) / 2;
        await panel.go(step.time - half, step.time + half);
      }
      panel.logs.choose(panel.told.zero + step.time);
    }
  }

  // -- the tables ----------------------------------------------------------------------------------------------------
  const element = (name, parent, text, kind) => {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (kind) made.className = kind;
    if (parent) parent.append(made);
    return made;
  };
  const least = (value) => (value === null ? "" : (value[1] ? "" : "≥ ") + report.number(value[0]));
  const HEADS = [["From"], ["Role, or what happened"], ["Epoch", "r"], ["Log end offset", "r"], ["High watermark", "r"], ["ISR"], ["Evidence"]];

  const row = (body, one) => {
    const made = element("tr", body);
    const first = element("td", made, undefined, "num");
    if (one.time !== null) {
      const time = element("time", first);
      time.dateTime = new Date(one.time / 1000).toISOString();
    }
    if (one.event) element("b", Object.assign(element("td", made), { colSpan: 5 }), one.what);
    else {
      element("td", made, one.what);
      element("td", made, one.epoch === null ? "" : String(one.epoch), "num r");
      element("td", made, least(one.log_end), "num r");
      element("td", made, least(one.high_watermark), "num r");
      element("td", made, one.isr, "num");
    }
    element("td", made, one.evidence, "place");
  };

  const table = (told) => {
    const box = element("div", undefined, undefined, "scroll");
    box.tabIndex = 0;
    box.setAttribute("role", "region");
    box.setAttribute("aria-label", "States of " + told.name);
    const made = element("table", box, undefined, "plain small states");
    element("caption", made, told.name[0].toUpperCase() + told.name.slice(1));
    if (!told.rows.length) element("td", element("tr", element("tbody", made)), "no line of it about its replica is in the evidence");
    else {
      const head = element("tr", element("thead", made));
      for (const [text, kind] of HEADS) element("th", head, text, kind).scope = "col";
      const body = element("tbody", made);
      for (const one of told.rows) row(body, one);
    }
    return box;
  };

  const tables = (told) => {
    const rows = panel.node.querySelector(".chart-table .rows");
    rows.replaceChildren(...told.tables.map(table));
    told.tables.forEach((one, place) => {
      if (!one.more) return;
      const more = element("p", undefined, `${report.number(one.more)} rows of ${one.name} left out, spread evenly.`, "more");
      rows.children[place].after(more);
    });
    report.writeTimes();
  };

  // -- the partition -------------------------------------------------------------------------------------------------
  const pick = document.getElementById("pick");
  let shown = null;
  report.show = async (number) => {
    if (!panel || shown === number) return;
    const before = shown;
    shown = number;
    const [anchor, name] = report.data.panels[number];
    const told = JSON.parse(await report.unpacked(report.charts[number]));
    if (shown !== number) return; // another one was chosen meanwhile
    if (pick) pick.value = String(number);
    panel.node.id = anchor;
    document.getElementById("panel-title").textContent = name;
    panel.target.style.minHeight = told.height + "px";
    const what = `Timeline of ${name}: ${told.replicas} replica${told.replicas === 1 ? "" : "s"}`;
    panel.target.setAttribute("aria-label", panel.target.getAttribute("aria-label").replace(/^Timeline of [^]*?: \d+ replicas?/, () => what));
    const dropped = panel.node.querySelector(".dropped");
    dropped.hidden = !told.dropped;
    dropped.firstElementChild.textContent = told.dropped === 1 ? "1 state" : report.number(told.dropped) + " states";
    const drawing = panel.load(told);
    panel.player.load(told.steps);
    panel.logs.load(told.view);
    if (before !== null) tables(told);
    if (panel.wanted && !panel.begun) await panel.draw();
    await drawing;
    panel.number = number;
  };

  // -- links into the page -------------------------------------------------------------------------------------------
  const reveal = (node) => {
    for (let one = node; one; one = one.parentElement) if (one instanceof HTMLDetailsElement) one.open = true;
    node.scrollIntoView({ block: node.matches("section, .panel, details") ? "start" : "center" });
    node.classList.remove("found");
    void node.offsetWidth; // so that the animation begins again
    node.classList.add("found");
  };
  report.follow = async (hash) => {
    const anchor = hash.replace(/^#/, "");
    if (places.has(anchor)) {
      await report.show(places.get(anchor));
      document.getElementById("timeline").scrollIntoView();
      return;
    }
    let name = anchor;
    try { name = decodeURIComponent(anchor); } catch { /* not encoded */ }
    const node = document.getElementById(anchor) || document.getElementById(name);
    if (node) reveal(node);
  };
  addEventListener("hashchange", () => report.follow(location.hash));
  // The same link again changes no hash.
  document.addEventListener("click", (event) => {
    const link = event.target.closest && event.target.closest('a[href^="#"]');
    if (link && link.hash === location.hash) { event.preventDefault(); report.follow(link.hash); }
  });

  if (!panel) {
    if (location.hash) report.follow(location.hash);
    return;
  }
  // On paper: the story of the partition whose timeline is shown, and no other.
  let stories = [];
  report.papers.push((on) => {
    if (!on) {
      for (const [story, open] of stories) story.open = open;
      stories = [];
      return;
    }
    const all = [...document.querySelectorAll(".story")];
    const mine = all.find((story) => [...story.querySelectorAll(".to a, .others a")].some((link) => link.hash === "#" + panel.node.id));
    if (!mine) return;
    stories = all.map((story) => [story, story.open]);
    for (const story of all) story.open = story === mine;
  });
  panel.player = new Player(panel.node.querySelector(".play"));
  if (pick) pick.addEventListener("change", () => report.show(Number(pick.value)));
  report.ready = (async () => {
    const asked = places.get(location.hash.replace(/^#/, ""));
    await report.show(0);
    if (asked) await report.show(asked);
    if (location.hash) await report.follow(location.hash);
  })();
  // Whoever prints without having scrolled wants the chart too.
  const early = async () => { await report.ready; if (!panel.drawn) panel.draw(); };
  early();
})();
