"use strict";
// The timelines: drawn when they come into view, redrawn for another scale, zone or colour scheme.
(() => {
  const CONFIG = {
    displaylogo: false,
    showSendToCloud: false,
    plotlyServerURL: "",
    responsive: true,
    scrollZoom: false,
    doubleClick: false,
    displayModeBar: false,
  };
  const coarse = matchMedia("(pointer: coarse)").matches;
  const panels = [];

  class Panel {
    constructor(node) {
      this.node = node;
      this.target = node.querySelector(".chart");
      this.status = node.querySelector(".status");
      this.scale = "offsets";
      this.off = new Set();
      this.busy = false;
      this.spec = null;
    }

    read() {
      const told = JSON.parse(this.node.querySelector(".chart-data").textContent);
      this.told = told;
      this.spec = told.figure;
      this.full = told.figure.layout.xaxis.range.slice();
      this.range = this.full.slice();
      this.groups = new Set(this.spec.data.map((trace) => trace.meta.group));
    }

    // Greatest committed offset at a moment; steps hold until the next.
    committed(at) {
      let value = 0;
      for (const [time, offset] of this.told.bound) {
        if (time > at) break;
        value = offset;
      }
      return value;
    }

    // A step of the committed bound changes every distance, so lines get a point there.
    distances(trace) {
      if (trace.mode !== "lines") {
        return { x: trace.x, y: trace.y.map((value, i) => (value === null ? null : value - this.committed(trace.x[i]))) };
      }
      const x = [], y = [];
      for (let i = 0; i < trace.x.length; i++) {
        const at = trace.x[i], value = trace.y[i];
        if (at !== null && i > 0 && trace.x[i - 1] !== null) {
          const from = trace.x[i - 1], before = trace.y[i - 1];
          for (const [time] of this.told.bound) {
            if (time > from && time < at) {
              x.push(time, time);
              y.push(before - this.committed(time - 1), before - this.committed(time));
            }
          }
        }
        x.push(at);
        y.push(value === null ? null : value - this.committed(at));
      }
      return { x, y };
    }

    time(ms) {
      if (ms === null) return null;
      // As text: plotly would read a number in the zone of this machine.
      const absolute = this.told.zero + Math.round(ms);
      return new Date(absolute + report.shift(absolute)).toISOString().slice(0, 23);
    }

    hover(trace, i, value) {
      const parts = [];
      const base = Array.isArray(trace.text) ? trace.text[i] : trace.text;
      if (base) parts.push("<b>" + base + (trace.customdata && typeof trace.text === "string" ? " " + report.number(value) : "") + "</b>");
      const at = trace.x[i];
      if (at !== null && at <= this.told.length) parts.push(report.clock(this.told.zero + at) + " " + report.zoneName());
      const reference = trace.customdata ? this.told.references[trace.customdata[i]] : undefined;
      if (reference) {
        const [path, line, quoted] = reference;
        parts.push(report.inert(path.split("/").slice(-3).join("/")) + (line === null ? "" : ":" + line));
        if (quoted) parts.push("<i>" + report.inert(quoted).replace(/(.{1,76})(\s|$)/g, "$1<br>").replace(/<br>$/, "") + "</i>");
      }
      return parts.join("<br>");
    }

    figure() {
      const distance = this.scale === "distance";
      const spec = report.coloured(this.spec);
      let low = 0, high = 0;
      spec.data = spec.data.map((trace) => {
        const source = trace;
        const made = { ...trace };
        if (trace.hoverinfo === "text" && trace.meta.group !== "epoch") {
          made.text = source.x.map((_, i) => this.hover(source, i, source.y[i]));
        }
        if (distance && trace.meta.offsets) {
          const moved = this.distances(source);
          made.x = moved.x;
          made.y = moved.y;
          for (const value of moved.y) {
            if (value !== null) { low = Math.min(low, value); high = Math.max(high, value); }
          }
        }
        made.x = made.x.map((ms) => this.time(ms));
        made.visible = !(this.off.has(trace.meta.group) || (distance && trace.meta.only === "offsets"));
        return made;
      });
      const layout = spec.layout;
      layout.xaxis.range = this.range.map((ms) => this.time(ms));
      for (const shape of layout.shapes) {
        if (shape.xref === "x") { shape.x0 = this.time(shape.x0); shape.x1 = this.time(shape.x1); }
      }
      for (const note of layout.annotations) if (note.xref === "x") note.x = this.time(note.x);
      if (distance) {
        const room = Math.max((high - low) * 0.12, 1);
        for (const [name, axis] of Object.entries(layout)) {
          if (name.startsWith("yaxis") && axis.tickformat) axis.range = [low - room, high + room * 1.6];
        }
      }
      if (this.target.clientWidth < 520) layout.xaxis.nticks = 4;
      layout.dragmode = coarse ? false : "zoom";
      layout.annotations = layout.annotations.filter((note) => !(note.yref === "y" && this.target.clientWidth < 520 && note.text.length > 3));
      return spec;
    }

    async draw() {
      if (this.spec === null) this.read();
      const plotly = await report.library();
      const first = !this.drawn;
      if (first) this.target.replaceChildren();
      const spec = this.figure();
      await plotly.react(this.target, spec.data, spec.layout, CONFIG);
      this.drawn = true;
      this.target.dataset.drawn = this.scale;
      if (first) this.begin();
      this.say();
    }

    begin() {
      this.node.querySelector(".tools").hidden = false;
      const keys = this.node.querySelector(".keys");
      keys.hidden = false;
      for (const button of keys.querySelectorAll("button")) {
        button.hidden = !this.groups.has(button.dataset.group);
        button.addEventListener("click", () => {
          const shown = button.getAttribute("aria-pressed") === "true";
          button.setAttribute("aria-pressed", String(!shown));
          this.off[shown ? "add" : "delete"](button.dataset.group);
          this.draw();
        });
      }
      for (const radio of this.node.querySelectorAll(".switch input")) {
        radio.addEventListener("change", () => { this.scale = radio.value; this.draw(); });
      }
      const focus = this.node.querySelector("[data-do=focus]");
      focus.hidden = this.told.focus === null;
      for (const button of this.node.querySelectorAll("[data-do]")) {
        button.addEventListener("click", () => this.zoom(button.dataset.do));
      }
      this.target.addEventListener("keydown", (event) => {
        const what = { ArrowLeft: "left", ArrowRight: "right", "+": "in", "=": "in", "-": "out", 0: "all", Home: "all", f: "focus" }[event.key];
        if (!what || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        this.zoom(what);
      });
      this.target.on("plotly_relayout", (change) => {
        const left = change["xaxis.range[0]"], right = change["xaxis.range[1]"];
        if (left === undefined || this.busy) return;
        this.range = [left, right].map((value) => {
          const wall = typeof value === "number" ? value : Date.parse(String(value).replace(" ", "T") + "Z");
          return wall - report.shift(wall) - this.told.zero;
        });
        this.say();
      });
      this.target.on("plotly_doubleclick", () => this.zoom("all"));
    }

    async zoom(what) {
      let [left, right] = this.range;
      const width = right - left;
      if (what === "all") [left, right] = this.full;
      if (what === "left") { left -= width / 4; right -= width / 4; }
      if (what === "right") { left += width / 4; right += width / 4; }
      if (what === "in") { left += width / 4; right -= width / 4; }
      if (what === "out") { left -= width / 2; right += width / 2; }
      if (what === "focus" && this.told.focus) {
        const [from, to] = this.told.focus;
        const room = Math.max((to - from) * 0.15, 250);
        [left, right] = [from - room, to + room];
      }
      if (right - left < 2) return;
      const [start, end] = this.full;
      if (right - left > end - start) [left, right] = [start, end];
      if (left < start) { right += start - left; left = start; }
      if (right > end) { left = Math.max(start, left - (right - end)); right = end; }
      this.range = [left, right];
      this.busy = true;
      await window.Plotly.relayout(this.target, { "xaxis.range": this.range.map((ms) => this.time(ms)) });
      this.busy = false;
      this.say();
    }

    say() {
      const [left, right] = this.range;
      const clamp = (ms) => Math.min(Math.max(ms, 0), this.told.length);
      const text = report.clock(this.told.zero + Math.round(clamp(left))) + " to " + report.clock(this.told.zero + Math.round(clamp(right)));
      this.status.textContent = "Shown: " + text + " " + report.zoneName();
    }
  }

  const watcher = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (entry.isIntersecting) {
        const panel = panels.find((one) => one.target === entry.target);
        watcher.unobserve(entry.target);
        panel.draw();
      }
    }
  }, { rootMargin: "400px" });

  for (const node of document.querySelectorAll("[data-panel]")) {
    const panel = new Panel(node);
    panels.push(panel);
    watcher.observe(panel.target);
  }

  const pick = document.getElementById("pick");
  const choose = (number) => {
    for (const panel of panels) panel.node.hidden = panel.node.dataset.panel !== String(number);
    if (pick) pick.value = String(number);
  };
  if (pick) pick.addEventListener("change", () => choose(pick.value));
  const follow = () => {
    const found = /^#panel-(\d+)$/.exec(location.hash);
    if (found && panels[found[1]]) {
      choose(found[1]);
      panels[found[1]].node.scrollIntoView();
    }
  };
  if (panels.length > 1) choose(0);
  addEventListener("hashchange", follow);
  document.addEventListener("click", (event) => {
    const link = event.target.closest && event.target.closest('a[href^="#panel-"]');
    if (link) choose(link.hash.slice(7));
  });
  follow();
  report.listeners.push(() => { for (const panel of panels) if (panel.drawn) panel.draw(); });
  report.panels = panels;
})();
