"use strict";
// Search from anywhere: "/" opens it. It finds partitions, findings, steps, brokers, rules and parts of the page.
(() => {
  const dialog = document.getElementById("search"), text = document.getElementById("search-text");
  const list = document.getElementById("search-found"), status = document.getElementById("search-status");
  const none = document.getElementById("search-none");
  const opener = document.getElementById("search-open");
  const MOST = 40;
  let entries = null, found = [], chosen = 0;

  const words = (node) => node.textContent.replace(/\s+/g, " ").trim().replace(/ #$/, ""); // without its own link
  const collect = () => {
    const made = [];
    const add = (kind, title, anchor, more) => made.push({ kind, title, anchor, more: more || "", key: (kind + " " + title + " " + (more || "")).toLowerCase() });
    for (const [name, , number] of report.data.map) {
      add("partition", name, number >= 0 ? report.data.panels[number][0] : null);
    }
    for (const [place, [anchor, name]] of report.data.panels.entries()) {
      if (!report.data.map.some(([, , number]) => number === place)) add("partition", name, anchor);
    }
    for (const node of document.querySelectorAll(".story")) add("finding", words(node.querySelector(".s-title")), node.id, words(node.querySelector(".summary")));
    for (const node of document.querySelectorAll(".story .also[id]")) add("finding", words(node), node.id);
    for (const node of document.querySelectorAll(".story .others tr[id]")) add("finding", words(node), node.id);
    for (const node of document.querySelectorAll(".quiet-list li[id]")) add("good to know", words(node), node.id);
    for (const node of document.querySelectorAll(".steps > li[id]")) add("step", words(node.querySelector(".what")), node.id, words(node.querySelector(".fact")));
    for (const node of document.querySelectorAll(".broker[id]")) add("broker", words(node.querySelector("summary")), node.id);
    for (const node of document.querySelectorAll(".rule-doc[id]")) add("rule", words(node.querySelector("h3")), node.id);
    for (const node of document.querySelectorAll("#missing, #coverage, #clocks, #settings, main > section[id]")) {
      const head = node.querySelector("h1, h2, h3");
      if (head) add("part", words(head), node.id);
    }
    return made;
  };

  const mark = () => {
    [...list.children].forEach((item, place) => item.setAttribute("aria-selected", String(place === chosen)));
    const item = list.children[chosen];
    if (item) { item.scrollIntoView({ block: "nearest" }); text.setAttribute("aria-activedescendant", item.id); }
    else text.removeAttribute("aria-activedescendant");
  };

  const look = () => {
    const asked = text.value.toLowerCase().split(/\s+/).filter(Boolean);
    const whole = text.value.trim().toLowerCase();
    const all = entries.filter((one) => asked.every((word) => one.key.includes(word)));
    // What is called just so comes first, whatever else contains the words.
    const far = (one) => (one.title.toLowerCase() === whole ? 0 : one.title.toLowerCase().startsWith(whole) ? 1 : 2);
    all.sort((a, b) => far(a) - far(b));
    found = all.slice(0, MOST);
    chosen = 0;
    list.replaceChildren(...found.map((one, place) => {
      const item = document.createElement("li");
      item.id = "found-" + place;
      item.setAttribute("role", "option");
      const small = document.createElement("small");
      small.textContent = one.kind + (one.more ? ": " + one.more : "");
      item.append(one.title, small);
      item.addEventListener("click", () => { chosen = place; open(); });
      return item;
    }));
    status.textContent = `${all.length} found`;
    none.hidden = all.length > 0 || text.value.trim() === "";
    mark();
  };

  const open = () => {
    const one = found[chosen];
    if (!one) return;
    dialog.close();
    if (one.anchor === null) { // without a timeline: the map has it
      const find = document.getElementById("find");
      find.value = one.title;
      find.dispatchEvent(new Event("input"));
      report.follow("#map");
      return;
    }
    if (location.hash === "#" + one.anchor) report.follow(location.hash);
    else location.hash = one.anchor;
  };

  const ask = () => {
    entries ??= collect();
    dialog.showModal();
    text.select();
    look();
  };
  opener.hidden = false;
  opener.addEventListener("click", ask);
  text.addEventListener("input", look);
  text.addEventListener("keydown", (event) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by) { event.preventDefault(); chosen = Math.min(Math.max(chosen + by, 0), found.length - 1); mark(); }
    if (event.key === "Enter") { event.preventDefault(); open(); }
    if (event.key === "Escape") { event.preventDefault(); dialog.close(); } // at once, not after the field is emptied
  });
  addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || dialog.open) return;
    if (event.target.closest && event.target.closest("input, select, textarea")) return;
    event.preventDefault();
    ask();
  });
})();
