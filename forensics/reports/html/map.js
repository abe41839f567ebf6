"use strict";
// The map: sort, filter, and show more of all partitions.
(() => {
  const grid = document.getElementById("grid");
  if (!grid) return;
  const STEP = 100;
  const WORDS = { v: ["✕", "violated"], w: ["!", "warning"], n: ["i", "info"], u: ["?", "unknown"], c: ["·", "clean"], x: ["–", "not applicable"] };
  const RANK = { v: 0, w: 1, u: 2, n: 3, c: 4, x: 5 };
  const rows = report.data.map.map(([name, letters, panel], place) => ({ name, letters, panel, place, key: name.toLowerCase() }));
  const rules = [...grid.querySelectorAll(".rule span")].map((one) => one.textContent);
  const body = grid.tBodies[0];
  const find = document.getElementById("find"), show = document.getElementById("show");
  const status = document.getElementById("shown"), more = document.getElementById("more-rows");
  let order = { by: null, up: true };
  let shown = STEP;
  const collator = new Intl.Collator("en", { numeric: true });

  const line = (row) => {
    const tr = document.createElement("tr");
    const th = document.createElement("th");
    th.scope = "row";
    th.className = row.name.length > 24 ? "name long" : "name";
    if (row.panel >= 0) {
      const link = document.createElement("a");
      link.href = "#" + report.data.panels[row.panel][0];
      link.textContent = row.name;
      th.append(link);
    } else th.textContent = row.name;
    tr.append(th);
    [...row.letters].forEach((letter, column) => {
      const td = document.createElement("td");
      td.className = letter;
      const word = document.createElement("span");
      word.className = "vh";
      word.textContent = WORDS[letter][1];
      const wanted = letter === "u" && document.getElementById("missing-" + rules[column]);
      if (wanted) {
        const link = document.createElement("a");
        link.href = "#" + wanted.id;
        link.tabIndex = -1; // the sums above have the same links
        link.append(WORDS[letter][0], word);
        td.append(link);
      } else td.append(WORDS[letter][0], word);
      tr.append(td);
    });
    return tr;
  };

  const chosen = () => {
    const text = find.value.trim().toLowerCase(), kind = show.value;
    let found = rows.filter((row) => row.key.includes(text));
    if (kind === "c") found = found.filter((row) => /^[cx]*$/.test(row.letters));
    else if (kind) found = found.filter((row) => row.letters.includes(kind));
    if (order.by !== null) {
      const compare = order.by === "name"
        ? (a, b) => collator.compare(a.name, b.name)
        : (a, b) => RANK[a.letters[order.by]] - RANK[b.letters[order.by]];
      found.sort((a, b) => (order.up ? 1 : -1) * compare(a, b) || a.place - b.place);
    }
    return found;
  };

  const draw = () => {
    const found = chosen();
    body.replaceChildren(...found.slice(0, shown).map(line));
    status.textContent = `${report.number(Math.min(shown, found.length))} of ${report.number(found.length)} shown` +
      (found.length < rows.length ? `, ${report.number(rows.length)} in all` : "");
    more.hidden = found.length <= shown;
    more.textContent = `Show ${report.number(Math.min(STEP * 5, found.length - shown))} more`;
  };

  for (const button of grid.querySelectorAll("[data-sort]")) {
    button.addEventListener("click", () => {
      const by = button.dataset.sort === "name" ? "name" : Number(button.dataset.sort);
      order = order.by === by ? (order.up ? { by, up: false } : { by: null, up: true }) : { by, up: true };
      for (const other of grid.querySelectorAll("[aria-sort]")) other.setAttribute("aria-sort", "none");
      if (order.by !== null) button.closest("th").setAttribute("aria-sort", order.up ? "ascending" : "descending");
      draw();
    });
  }
  find.addEventListener("input", () => { shown = STEP; draw(); });
  show.addEventListener("change", () => { shown = STEP; draw(); });
  more.addEventListener("click", () => { shown += STEP * 5; draw(); });
  document.getElementById("filter").addEventListener("submit", (event) => event.preventDefault());
  document.getElementById("filter").hidden = false;
  draw();
})();
