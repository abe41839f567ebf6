"use strict";
// A small strip of the whole time above the chart: what part is shown, and where the steps are. Drag it to move.
(() => {
  const panel = report.panel;
  if (!panel) return;
  const SVG = "http://www.w3.org/2000/svg", LONG = 600000; // milliseconds of a case that is worth a strip at once
  const node = panel.node.querySelector(".overview");
  const make = (name, attributes, parent) => {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    parent.append(made);
    return made;
  };

  const draw = () => {
    const told = panel.told, [start, end] = panel.full, [left, right] = panel.range;
    const part = right - left < (end - start) * 0.999;
    node.hidden = !(part || told.length >= LONG);
    if (node.hidden || !node.clientWidth) return;
    const { l, r } = told.figure.layout.margin;
    const width = node.clientWidth, x = (ms) => l + ((ms - start) / (end - start)) * (width - l - r);
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("viewBox", `0 0 ${width} 26`);
    for (const [epoch, from, to] of told.reigns) {
      if (to > from) make("rect", { x: x(from), y: 8, width: Math.max(x(to) - x(from), 1), height: 10, style: `fill:var(--epoch-${epoch % 8})` }, svg);
    }
    for (const at of told.cuts) make("line", { x1: x(at), x2: x(at), y1: 6, y2: 20, class: "cut" }, svg);
    for (const step of told.steps) if (step.time !== null) make("circle", { cx: x(step.time), cy: 13, r: 4, class: "step" }, svg);
    make("rect", { x: x(left), y: 2, width: Math.max(x(right) - x(left), 3), height: 22, rx: 3, class: "window" }, svg);
    node.replaceChildren(svg);
  };

  const at = (event) => {
    const { l, r } = panel.told.figure.layout.margin, box = node.getBoundingClientRect();
    const share = (event.clientX - box.left - l) / (box.width - l - r);
    return panel.full[0] + share * (panel.full[1] - panel.full[0]);
  };
  let grip = null;
  node.addEventListener("pointerdown", (event) => {
    const [left, right] = panel.range, where = at(event);
    grip = where >= left && where <= right ? where - left : (right - left) / 2;
    node.setPointerCapture(event.pointerId);
    panel.go(where - grip, where - grip + right - left);
  });
  node.addEventListener("pointermove", (event) => {
    if (grip === null || panel.busy) return;
    const wide = panel.range[1] - panel.range[0], from = at(event) - grip;
    panel.go(from, from + wide);
  });
  for (const over of ["pointerup", "pointercancel"]) node.addEventListener(over, () => { grip = null; });
  panel.watchers.push(draw);
})();
