"use strict";
// The logs side by side at a chosen moment, drawn as plain SVG.
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const make = (name, attributes, parent, text) => {
    const node = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (text !== undefined) node.textContent = text;
    if (parent) parent.append(node);
    return node;
  };

  class Logs {
    constructor(node, panel) {
      this.node = node;
      this.panel = panel;
      panel.logs = this;
      this.view = null;
      this.bars = node.querySelector(".bars");
      this.output = node.querySelector("output");
      this.slider = node.querySelector("input[type=range]");
      this.body = node.querySelector("tbody");
      this.caption = node.querySelector(".moment-caption");
      node.querySelector(".moment").hidden = false;
      this.asked = null; // a time that was clicked; null where the slider chose a moment
      this.slider.addEventListener("input", () => { this.asked = null; this.draw(); });
      for (const button of node.querySelectorAll("[data-step]")) {
        button.addEventListener("click", () => {
          this.slider.value = Number(this.slider.value) + Number(button.dataset.step);
          this.asked = null;
          this.draw();
        });
      }
      new ResizeObserver(() => this.draw()).observe(this.bars);
    }

    // Show the logs of another partition, or nothing where it has none.
    load(view) {
      this.view = view;
      this.node.hidden = view === null;
      this.asked = null;
      this.shown = null;
      if (view === null) return;
      this.slider.max = view.moments.length - 1;
      this.slider.value = view.chosen;
      this.draw();
    }

    // What lies on disk, where the evidence has files.
    last() {
      if (this.view === null) return;
      this.slider.value = this.view.moments.length - 1;
      this.asked = null;
      this.draw();
    }

    // The last moment that is not after a time.
    choose(ms) {
      if (this.view === null) { this.panel.mark(ms); return; }
      let found = 0;
      this.view.moments.forEach((moment, i) => { if (moment.time !== null && moment.time / 1000 <= ms) found = i; });
      const disk = this.view.moments.length - 1;
      if (ms > this.panel.told.zero + this.panel.told.length && this.view.moments[disk].time === null) found = disk;
      this.slider.value = found;
      this.asked = this.view.moments[found].time === null ? null : Math.max(ms, this.view.moments[found].time / 1000);
      this.draw();
    }

    when(moment) {
      if (moment.time === null) return "On disk, when the files were copied";
      const then = report.clock(moment.time / 1000) + " " + report.zoneName();
      return this.asked === null ? then : report.clock(this.asked) + ", as it was since " + then;
    }

    ticks(first, end, width) {
      const rough = (end - first) / Math.max(width / 110, 2);
      const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1)));
      const step = Math.max([1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough) || power * 10, 1);
      const found = [];
      for (let at = Math.ceil(first / step) * step; at <= end; at += step) found.push(at);
      return found;
    }

    draw() {
      const width = this.bars.clientWidth;
      if (!width || this.view === null) return;
      const { first, end } = this.view;
      const moment = this.view.moments[Number(this.slider.value)];
      const narrow = width < 560;
      const left = narrow ? 0 : 118, right = 26, top = 26, tall = 34, pitch = narrow ? 82 : 66;
      const room = width - left - right;
      const x = (offset) => left + ((Math.min(Math.max(offset, first), end) - first) / Math.max(end - first, 1)) * room;
      const height = top + pitch * moment.bars.length + 8;
      const svg = make("svg", { viewBox: `0 0 ${width} ${height}`, height, "aria-hidden": "true" });
      for (const at of this.ticks(first, end, room)) {
        make("line", { x1: x(at), x2: x(at), y1: top - 6, y2: height - 8, class: "axis" }, svg);
        make("text", { x: x(at), y: top - 11, "text-anchor": at === first ? "start" : "middle" }, svg, report.number(at));
      }
      moment.bars.forEach((bar, row) => this.bar(svg, bar, top + row * pitch + (narrow ? 22 : 6), tall, x, narrow, first, left, room));
      if (moment.fork !== null) {
        make("line", { x1: x(moment.fork), x2: x(moment.fork), y1: top - 4, y2: height - 8, class: "fork" }, svg);
        const late = x(moment.fork) > left + room * 0.75;
        make("text", { x: x(moment.fork) + (late ? -6 : 6), y: height - 1, "text-anchor": late ? "end" : "start", class: "fork-text" }, svg, "fork at offset " + report.number(moment.fork));
      }
      this.bars.replaceChildren(svg);
      const words = moment.bars.map((bar) => `${bar.name}: ${this.spell(bar)}`).join(". ");
      this.bars.setAttribute("aria-label", `${this.when(moment)}. ${words}.` + (moment.fork === null ? "" : ` Fork at offset ${moment.fork}.`));
      this.output.textContent = this.when(moment);
      this.slider.setAttribute("aria-valuetext", this.when(moment));
      this.table(moment);
      const at = this.asked ?? (moment.time === null ? null : moment.time / 1000);
      if (this.shown !== moment || this.at !== at) this.panel.mark(at);
      this.shown = moment;
      this.at = at;
    }

    spell(bar) {
      if (bar.end === null) return "nothing known";
      const pieces = bar.pieces.map(([epoch, from, to]) => `${epoch < 0 ? "epoch unknown" : "epoch " + epoch}: ${from} to ${to - 1}`);
      return `${pieces.join(", ") || "empty"}, ends at ${bar.exact ? "" : "least "}${bar.end}`;
    }

    bar(svg, bar, y, tall, x, narrow, first, left, room) {
      const group = make("g", { class: bar.known ? "" : "ghost" }, svg);
      make("text", { x: 0, y: narrow ? y - 7 : y + 15, class: "who" }, svg, bar.name);
      const role = bar.end === null ? "nothing known" : bar.known ? bar.role : `${bar.role || "silent"}: last known`;
      make("text", { x: narrow ? 72 : 0, y: narrow ? y - 7 : y + 31 }, svg, role === "on disk" ? "" : role);
      if (bar.end === null) {
        make("rect", { x: left, y, width: room, height: tall, rx: 3, class: "open" }, group);
        return;
      }
      for (const [epoch, from, to] of bar.pieces) {
        if (to <= first) continue;
        const start = x(from), stop = x(to);
        const hue = epoch < 0 ? "var(--grid)" : `var(--epoch-${epoch % 8})`;
        const rect = make("rect", { x: start, y, width: Math.max(stop - start, 1), height: tall, rx: 3, class: "piece", style: `fill:${hue}` }, group);
        make("title", {}, rect, `${epoch < 0 ? "epoch unknown" : "epoch " + epoch}: offsets [${from}, ${to})`);
        const words = epoch < 0 ? "?" : stop - start > 74 ? "epoch " + epoch : String(epoch);
        if (stop - start > 16) {
          const ink = epoch < 0 ? "var(--ink-2)" : `var(--epoch-${epoch % 8}-ink)`;
          make("text", { x: (start + stop) / 2, y: y + tall / 2 + 4, "text-anchor": "middle", class: "in", style: `fill:${ink}` }, group, words);
        }
      }
      const stop = x(bar.end);
      if (!bar.exact) make("rect", { x: stop, y, width: 22, height: tall, class: "open" }, group);
      const under = [];
      under.push([bar.end, (bar.exact ? "" : "≥ ") + report.number(bar.end), ""]);
      if (bar.high_watermark !== null && bar.high_watermark >= first) {
        const at = x(bar.high_watermark);
        make("path", { d: `M${at} ${y + tall - 1}l5 8h-10z`, class: "mark" }, group);
        if (bar.high_watermark !== bar.end) under.push([bar.high_watermark, "HW " + report.number(bar.high_watermark), "hw"]);
        else under[0][1] = "HW = end = " + report.number(bar.end), under[0][2] = "hw";
      }
      // Close together, one label tells both.
      if (under.length === 2 && Math.abs(x(under[0][0]) - x(under[1][0])) < 78) {
        under[0] = [bar.end, `HW ${report.number(bar.high_watermark)}, end ${bar.exact ? "" : "≥ "}${report.number(bar.end)}`, "hw"];
        under.pop();
      }
      for (const [offset, words, kind] of under) {
        const at = x(offset), wide = words.length * 6.6;
        const anchor = at - left < wide / 2 ? "start" : this.bars.clientWidth - at < wide / 2 ? "end" : "middle";
        make("text", { x: anchor === "end" ? this.bars.clientWidth : at, y: y + tall + 19, "text-anchor": anchor, class: kind }, group, words);
      }
    }

    table(moment) {
      this.caption.textContent = this.when(moment);
      this.body.replaceChildren(
        ...moment.bars.map((bar) => {
          const row = document.createElement("tr");
          const cell = (name, text, kind) => {
            const made = document.createElement(name);
            made.textContent = text;
            if (kind) made.className = kind;
            row.append(made);
            return made;
          };
          cell("th", bar.name).scope = "row";
          cell("td", bar.known ? bar.role : (bar.role || "silent") + ", last known");
          cell("td", bar.pieces.map(([epoch, from, to]) => `${epoch < 0 ? "epoch unknown" : "epoch " + epoch}: ${report.number(from)} to ${report.number(to - 1)}`).join("; "), "num");
          cell("td", bar.end === null ? "" : (bar.exact ? "" : "≥ ") + report.number(bar.end), "num r");
          cell("td", bar.high_watermark === null ? "" : report.number(bar.high_watermark), "num r");
          return row;
        }),
      );
    }
  }

  if (!report.panel) return;
  const logs = new Logs(document.querySelector(".logs"), report.panel);
  report.listeners.push(() => logs.draw());
})();
