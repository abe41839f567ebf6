"use strict";
// What every part of the page needs: its data, times in the reader's zone, colours of the scheme, plotly when wanted.
const report = {
  data: JSON.parse(document.getElementById("data").textContent),
  zone: "UTC",
  listeners: [],
  charts: JSON.parse(document.getElementById("charts").textContent), // of each partition, gzipped and in base64
  papers: [], // called with true before the page goes to paper, and with false afterwards

  // -- times ---------------------------------------------------------------------------------------------------------
  clock(ms, date) {
    const shifted = new Date(ms + report.shift(ms)).toISOString();
    return date ? shifted.slice(0, 10) + " " + shifted.slice(11, 23) : shifted.slice(11, 23);
  },
  shift(ms) {
    return report.zone === "UTC" ? 0 : -new Date(ms).getTimezoneOffset() * 60000;
  },
  zoneName() {
    return report.zone === "UTC" ? "UTC" : Intl.DateTimeFormat().resolvedOptions().timeZone || "local time";
  },
  writeTimes() {
    for (const node of document.querySelectorAll("time")) {
      const ms = Date.parse(node.dateTime);
      node.textContent = node.hasAttribute("data-day")
        ? new Date(ms + report.shift(ms)).toISOString().slice(0, 10)
        : report.clock(ms, node.hasAttribute("data-date"));
    }
    for (const node of document.querySelectorAll(".zone-name")) node.textContent = report.zoneName();
  },
  changed() {
    for (const listener of report.listeners) listener();
  },

  // -- colours -------------------------------------------------------------------------------------------------------
  // Figures name colours as var(--x); plotly wants the values.
  coloured(value, style = getComputedStyle(document.documentElement)) {
    if (typeof value === "string") {
      const found = /^var\((--[\w-]+)\)$/.exec(value);
      return found ? style.getPropertyValue(found[1]).trim() : value;
    }
    if (Array.isArray(value)) {
      return typeof value[0] === "number" ? value : value.map((one) => report.coloured(one, style));
    }
    if (value && typeof value === "object") {
      const copy = {};
      for (const [key, one] of Object.entries(value)) copy[key] = report.coloured(one, style);
      return copy;
    }
    return value;
  },
  inert(text) {
    return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  },
  number(value) {
    return String(value).replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");
  },

  // -- packed data ---------------------------------------------------------------------------------------------------
  async unpacked(packed) {
    const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  },

  // -- plotly --------------------------------------------------------------------------------------------------------
  library() {
    report.loading ??= (async () => {
      const script = document.createElement("script");
      script.textContent = await report.unpacked(document.getElementById("plotly-bundle").textContent.trim());
      document.head.append(script);
      return window.Plotly;
    })();
    return report.loading;
  },
};

(() => {
  const button = document.getElementById("zone");
  const here = Intl.DateTimeFormat().resolvedOptions().timeZone || "local time";
  button.hidden = false;
  const write = () => {
    const local = report.zone !== "UTC";
    const what = document.createElement("span");
    what.className = "what";
    what.textContent = "Times: ";
    button.replaceChildren(what, local ? here : "UTC");
    button.setAttribute("aria-pressed", String(local));
    button.title = local ? "Show times in UTC" : "Show times in your zone, " + here;
    report.writeTimes();
  };
  button.addEventListener("click", () => {
    report.zone = report.zone === "UTC" ? "local" : "UTC";
    write();
    report.changed();
  });
  write();

  // The scheme: the reader's own, light or dark; the choice is kept where the browser lets a file keep anything.
  const theme = document.getElementById("theme"), dark = document.getElementById("dark");
  const MEDIA = { auto: "(prefers-color-scheme: dark)", light: "not all", dark: "all" };
  const kept = (value) => {
    try {
      if (value === undefined) return localStorage.getItem("forensics-theme");
      localStorage.setItem("forensics-theme", value);
    } catch { /* a browser may keep nothing for files */ }
    return null;
  };
  const paint = (name) => {
    report.theme = name;
    dark.media = MEDIA[name];
    document.documentElement.style.colorScheme = name === "auto" ? "" : name;
    theme.textContent = "Theme: " + name;
    report.changed();
  };
  theme.hidden = false;
  theme.addEventListener("click", () => {
    const names = Object.keys(MEDIA);
    paint(names[(names.indexOf(report.theme) + 1) % names.length]);
    kept(report.theme);
  });
  paint(kept() in MEDIA ? kept() : "auto");
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => report.changed());

  // The summary for a ticket.
  const copy = document.getElementById("copy"), copied = document.getElementById("copied");
  copy.hidden = false;
  const byHand = (text) => { // where a browser keeps the clipboard from files
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "vh";
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    if (!done) throw new Error("not copied");
  };
  copy.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(report.data.markdown).catch(() => byHand(report.data.markdown));
      copied.textContent = "Copied: paste it into a ticket.";
    } catch {
      copied.textContent = "This browser lets no page copy. forensics scan --format markdown writes the same.";
    }
    copy.focus();
  });

  // On paper: light colours. What is folded stays folded, but the table of a chart that is not drawn yet.
  let opened = [];
  addEventListener("beforeprint", () => {
    document.documentElement.dataset.print = "";
    for (const paper of report.papers) paper(true);
    opened = [...document.querySelectorAll(".panel:not(:has([data-drawn])) .chart-table:not([open])")];
    for (const details of opened) details.open = true;
    report.changed();
  });
  addEventListener("afterprint", () => {
    delete document.documentElement.dataset.print;
    for (const details of opened) details.open = false;
    for (const paper of report.papers) paper(false);
    report.changed();
  });
})();
