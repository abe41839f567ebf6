"use strict";
// The timeline of one partition: drawn when it comes into view, redrawn for another one, scale, zone or colour scheme.
(() => {
  const CONFIG = {
    displaylogo: false,
    showSendToCloud: false,
    plotlyServerURL: "",
    responsive: false,
    scrollZoom: false,
    doubleClick: false,
    displayModeBar: false,
    showTips: false,
  };
  const PAPER = "print", PAGE = 700; // pixels that a page of A4 has room for
  const coarse = matchMedia("(pointer: coarse)").matches;

  class Panel {
    constructor(node) {
      this.node = node;
      this.target = node.querySelector(".chart");
      this.status = node.querySelector(".status");
      this.scale = "offsets";
      this.off = new Set();
      this.busy = false;
      this.spec = null;
      this.moment = null;
      this.watchers = []; // called whenever another part is shown, or another moment marked
    }

    // Show another partition.
    load(told) {
      this.told = told;
      this.spec = told.figure;
      this.full = told.figure.layout.xaxis.range.slice();
      this.range = this.full.slice();
      this.groups = new Set(this.spec.data.map((trace) => trace.meta.group));
      this.moment = null;
      this.node.dataset.tone = told.grave ? "bad" : "warn";
      if (this.begun) {
        this.offer();
        return this.draw();
      }
      return null;
    }

    // The committed bound holds from each step to the next; before the first nobody has stated any.
    committed(at, before) {
      const bound = this.told.bound;
      let low = 0, high = bound.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (before ? bound[middle][0] < at : bound[middle][0] <= at) low = middle + 1;
        else high = middle;
      }
      return { value: low ? bound[low - 1][1] : null, next: low };
    }

    apart(value, bound) {
      return value === null || bound === null ? null : value - bound;
    }

    // A line's distance also steps where the bound does: along each level stretch the bound's steps are put in.
    distances(trace) {
      if (trace.mode !== "lines") {
        return { x: trace.x, y: trace.y.map((value, i) => this.apart(value, this.committed(trace.x[i]).value)) };
      }
      const x = [], y = [], bound = this.told.bound;
      const put = (at, value) => {
        const last = x.length - 1;
        if (last < 0 || x[last] !== at || y[last] !== value) { x.push(at); y.push(value); }
      };
      for (let i = 0; i < trace.x.length; i++) {
        const at = trace.x[i], value = trace.y[i];
        if (at === null || value === null) { put(at, null); continue; }
        const from = i > 0 && trace.y[i - 1] !== null ? trace.x[i - 1] : null;
        if (from !== null && from < at) {
          const held = trace.y[i - 1];
          for (let step = this.committed(from).next; step < bound.length && bound[step][0] < at; step++) {
            put(bound[step][0], this.apart(held, step ? bound[step - 1][1] : null));
            put(bound[step][0], this.apart(held, bound[step][1]));
          }
          put(at, this.apart(held, this.committed(at, true).value));
        }
        // What changes in the same moment as the bound is held against the new one.
        if (from === null || from === at || trace.x[i + 1] > at) put(at, this.apart(value, this.committed(at).value));
      }
      return { x, y };
    }

    time(ms) {
      if (ms === null) return null;
      // As text: plotly would read a number in the zone of this machine.
      const absolute = this.told.zero + Math.round(ms);
      return new Date(absolute + report.shift(absolute)).toISOString().slice(0, 23);
    }

    hover(trace, i) {
      const parts = [];
      const base = Array.isArray(trace.text) ? trace.text[i] : trace.text;
      // In lines that fit: between words, so that what is escaped stays whole.
      const most = Math.max(24, Math.min(76, Math.floor(this.width() / 9)));
      const wrapped = (text, words) => text.match(new RegExp(words ? `.{1,${most}}(?:\\s|$)|\\S+` : `.{1,${most}}(?:\\s|$)|.{1,${most}}`, "g")) || [];
      if (base) parts.push("<b>" + wrapped(base, true).join("<br>") + "</b>");
      const at = trace.x[i];
      if (at !== null && at <= this.told.length) parts.push(report.clock(this.told.zero + at) + " " + report.zoneName());
      const reference = trace.customdata ? this.told.references[trace.customdata[i]] : undefined;
      if (reference) {
        const [path, line, quoted] = reference;
        parts.push(report.inert(path.split("/").slice(-3).join("/")) + (line === null ? "" : ":" + line));
        const lines = wrapped(quoted, false);
        if (lines.length) parts.push("<i>" + lines.map(report.inert).join("<br>") + "</i>");
      }
      return parts.join("<br>");
    }

    figure() {
      const distance = this.scale === "distance";
      const spec = report.coloured(this.spec);
      this.values = [];
      spec.data = spec.data.map((trace) => {
        const made = { ...trace };
        if (trace.hoverinfo === "text" && trace.hoveron !== "fills") made.text = trace.x.map((_, i) => this.hover(trace, i));
        made.visible = !(this.off.has(trace.meta.group) || (distance && trace.meta.only === "offsets"));
        if (trace.meta.offsets) {
          if (distance) Object.assign(made, this.distances(trace));
          if (made.visible) this.values.push([made.x, made.y, trace.mode === "lines"]);
        }
        made.x = made.x.map((ms) => this.time(ms));
        return made;
      });
      const layout = spec.layout;
      layout.xaxis.range = this.range.map((ms) => this.time(ms));
      for (const [name, value] of Object.entries(this.scaled())) {
        const [axis, key] = name.split(".");
        layout[axis][key] = value;
      }
      if (this.width() < 520) layout.xaxis.nticks = 4;
      layout.dragmode = coarse ? false : "zoom";
      layout.width = this.width();
      return Object.assign(spec, { layout: { ...layout, ...this.over() } });
    }

    // One scale of offsets for all lanes: of what is shown, so that zooming makes differences larger everywhere alike.
    scaled() {
      const [left, right] = this.range;
      const whole = left <= this.full[0] && right >= this.full[1];
      let low = Infinity, high = -Infinity;
      const see = (value) => { if (value !== null) { low = Math.min(low, value); high = Math.max(high, value); } };
      for (const [xs, ys, holds] of this.values) {
        let before = null;
        xs.forEach((at, i) => {
          if (at === null) before = null;
          else if (at < left) before = ys[i];
          else if (at <= right) { see(before); before = null; see(ys[i]); }
          else { if (holds) see(before); before = null; }
        });
      }
      const told = this.spec.layout.yaxis2.range;
      if (whole && this.scale === "offsets") [low, high] = told;
      else {
        if (low > high) [low, high] = this.scale === "offsets" ? told : [0, 1];
        if (this.scale === "distance") see(0);
        const room = Math.max(high - low, 1) * 0.14;
        [low, high] = [low - room, high + room * 1.4];
      }
      this.heights = [low, high];
      const change = {};
      for (const [name, axis] of Object.entries(this.spec.layout)) {
        if (!name.startsWith("yaxis") || !axis.tickformat) continue;
        change[name + ".range"] = [low, high];
        change[name + ".dtick"] = high - low < 8 ? 1 : null;
      }
      return change;
    }

    width() {
      return PAPER in document.documentElement.dataset ? PAGE : this.target.clientWidth;
    }

    // What stands over the lines: words where they have room in what is shown, and the moment of the logs below.
    over() {
      const layout = report.coloured(this.spec.layout);
      const [left, right] = this.range;
      const wide = this.width() - layout.margin.l - layout.margin.r;
      const colours = getComputedStyle(document.documentElement);
      const annotations = layout.annotations;
      for (const label of this.told.labels) {
        if (label.only && label.only !== this.scale) continue;
        const from = Math.max(label.start, left), to = Math.min(label.end, right);
        const room = ((to - from) / (right - left)) * wide;
        if (label.axis === "y2" && (label.y < this.heights[0] || label.y > this.heights[1])) continue;
        const words = label.texts.find((text) => text.length * 6.1 + 6 <= room);
        if (words === undefined) continue;
        annotations.push({
          x: this.time(label.side === "left" ? from : (from + to) / 2), y: label.y, xref: "x", yref: label.axis, text: words,
          showarrow: false, font: { size: label.axis === "y" ? 11 : 10, color: report.coloured(label.colour, colours) },
          ...(label.side === "left" ? { xanchor: "left", yanchor: "top", xshift: 3 } : {}),
          ...(label.card ? { bgcolor: report.coloured("var(--card)", colours) } : {}),
        });
      }
      const shapes = layout.shapes;
      for (const shape of shapes) {
        if (shape.xref === "x") { shape.x0 = this.time(shape.x0); shape.x1 = this.time(shape.x1); }
      }
      if (this.moment !== null) {
        const at = this.time(this.moment - this.told.zero);
        shapes.push({
          type: "line", xref: "x", yref: "paper", x0: at, x1: at, y0: 0, y1: 1,
          line: { color: report.coloured("var(--ink)", colours), width: 1.5, dash: "dash" }, layer: "below",
        });
      }
      return { annotations, shapes };
    }

    // The logs below show another moment: say where it is.
    mark(moment) {
      this.moment = moment;
      if (this.drawn) this.relay({});
    }

    async relay(change) {
      this.busy = true;
      const scale = this.scaled();
      await window.Plotly.relayout(this.target, { ...change, ...scale, ...this.over() });
      this.busy = false;
      for (const watch of this.watchers) watch();
    }

    async draw() {
      if (this.spec === null) return null;
      if (!window.Plotly) await report.library();
      return this.put(window.Plotly);
    }

    // Without waiting for anything where plotly is there: paper does not wait.
    async put(plotly) {
      const first = !this.begun;
      this.begun = true;
      if (first) this.target.replaceChildren();
      const spec = this.figure();
      await plotly.react(this.target, spec.data, spec.layout, CONFIG);
      this.drawn = true;
      this.seen = this.width();
      this.target.dataset.drawn = this.scale;
      if (first) this.begin();
      this.say();
      for (const watch of this.watchers) watch();
    }

    // The legend and the buttons that this partition has a use for.
    offer() {
      for (const button of this.node.querySelectorAll(".keys button")) {
        button.hidden = !this.groups.has(button.dataset.group);
      }
      this.node.querySelector("[data-do=focus]").hidden = this.told.focus === null;
    }

    begin() {
      for (const tools of this.node.querySelectorAll(".tools")) tools.hidden = false;
      this.offer();
      for (const button of this.node.querySelectorAll(".keys button")) {
        button.addEventListener("click", () => {
          const shown = button.getAttribute("aria-pressed") === "true";
          button.setAttribute("aria-pressed", String(!shown));
          const groups = [button.dataset.group, ...button.dataset.also.split(" ").filter(Boolean)];
          for (const group of groups) this.off[shown ? "add" : "delete"](group);
          this.draw();
        });
      }
      for (const radio of this.node.querySelectorAll(".switch input")) {
        radio.addEventListener("change", () => { this.scale = radio.value; this.draw(); });
      }
      for (const button of this.node.querySelectorAll("[data-do]")) {
        button.addEventListener("click", () => this.zoom(button.dataset.do));
      }
      this.target.addEventListener("keydown", (event) => {
        const step = { n: 1, p: -1 }[event.key];
        if (step && this.player && !event.ctrlKey && !event.metaKey && !event.altKey) {
          event.preventDefault();
          this.player.move(step);
          return;
        }
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
        this.relay({});
        this.say();
      });
      this.target.on("plotly_doubleclick", () => this.zoom("all"));
      // A wheel scrolls the page; with Ctrl it zooms to where it points.
      this.target.addEventListener("wheel", (event) => {
        if (!event.ctrlKey) return;
        event.preventDefault();
        const [left, right] = this.range, at = left + this.share(event) * (right - left);
        const factor = event.deltaY > 0 ? 1.25 : 0.8;
        this.go(at - (at - left) * factor, at + (right - at) * factor);
      }, { passive: false });
      this.target.addEventListener("click", (event) => {
        const share = this.share(event);
        if (share < 0 || share > 1 || !this.logs) return;
        this.logs.choose(this.told.zero + this.range[0] + share * (this.range[1] - this.range[0]));
      });
    }

    // How far across the plot an event is: 0 at its left end, 1 at its right.
    share(event) {
      const plot = this.target._fullLayout._size;
      return (event.clientX - this.target.getBoundingClientRect().left - plot.l) / plot.w;
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
      await this.go(left, right);
    }

    // Show this part, moved and shortened to what there is.
    async go(left, right) {
      if (right - left < 2) return;
      const [start, end] = this.full;
      if (right - left > end - start) [left, right] = [start, end];
      if (left < start) { right += start - left; left = start; }
      if (right > end) { left = Math.max(start, left - (right - end)); right = end; }
      this.range = [left, right];
      await this.relay({ "xaxis.range": this.range.map((ms) => this.time(ms)) });
      this.say();
    }

    say() {
      const [left, right] = this.range;
      const clamp = (ms) => Math.min(Math.max(ms, 0), this.told.length);
      const text = report.clock(this.told.zero + Math.round(clamp(left))) + " to " + report.clock(this.told.zero + Math.round(clamp(right)));
      this.status.textContent = "Shown: " + text + " " + report.zoneName();
    }
  }

  const node = document.querySelector("[data-panel]");
  if (!node) return;
  const panel = new Panel(node);
  report.panel = panel;
  new IntersectionObserver((entries, watcher) => {
    if (entries.some((entry) => entry.isIntersecting)) {
      watcher.disconnect();
      panel.wanted = true;
      panel.draw();
    }
  }, { rootMargin: "400px" }).observe(panel.target);
  new ResizeObserver(() => {
    if (panel.drawn && panel.seen !== panel.width() && panel.target.clientWidth) panel.put(window.Plotly);
  }).observe(panel.target);
  report.listeners.push(() => { if (panel.drawn) panel.draw(); });
  report.papers.push((on) => { if (on && window.Plotly) panel.draw(); });
})();
