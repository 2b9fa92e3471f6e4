// Elements, numbers in words, colours and the tooltip. Names of users become text, never markup.
const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}
const el = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes = {}, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

function scaled(amount, step, units, digits) {
  let unit = 0;
  while (Math.abs(amount) >= step && unit < units.length - 1) {
    amount /= step;
    unit += 1;
  }
  return `${amount.toFixed(unit ? digits : 0)} ${units[unit]}`;
}
const bytes = (amount) => scaled(amount, 1024, ["B", "KiB", "MiB", "GiB", "TiB"], 1);
const flops = (amount) => scaled(amount, 1000, ["FLOP/s", "kFLOP/s", "MFLOP/s", "GFLOP/s", "TFLOP/s", "PFLOP/s"], 1);
const count = (amount) => amount.toLocaleString("en", { maximumFractionDigits: amount < 100 ? 2 : 0 });
const percent = (share, digits = 1) => `${(share * 100).toFixed(digits)} %`;

function seconds(amount) {
  const units = [
    [3600, "h"],
    [60, "min"],
    [1, "s"],
    [1e-3, "ms"],
    [1e-6, "µs"],
    [1e-9, "ns"],
  ];
  const found = units.find(([size]) => Math.abs(amount) >= size) ?? units[units.length - 1];
  const value = amount / found[0];
  return amount === 0 ? "0 s" : `${value >= 100 ? value.toFixed(0) : value.toPrecision(3)} ${found[1]}`;
}

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const PALETTE = [
  "#2f6fd6",
  "#e08a1e",
  "#8b5fc7",
  "#4f9a94",
  "#c2477f",
  "#7a8a2d",
  "#2c8f57",
  "#d9662f",
  "#b49a2e",
  "#5b7fa6",
  "#a0522d",
  "#6b8e9e",
  "#9467bd",
  "#c9a227",
];
const paint = (index) => PALETTE[index % PALETTE.length];
const words = (name) => name.replaceAll("_", " ");

const tip = document.getElementById("tip");
function showTip(event, ...content) {
  tip.replaceChildren(...content);
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const left = Math.min(event.clientX + 14, window.innerWidth - box.width - 8);
  const below = event.clientY + 16 + box.height < window.innerHeight;
  tip.style.left = `${Math.max(8, left)}px`;
  tip.style.top = `${below ? event.clientY + 16 : Math.max(8, event.clientY - box.height - 12)}px`;
}
const hideTip = () => {
  tip.hidden = true;
};
const pairs = (rows) =>
  el(
    "table",
    {},
    el(
      "tbody",
      {},
      rows.map(([name, value]) => el("tr", {}, el("td", {}, name), el("td", { class: "number" }, value))),
    ),
  );

function section(id, title, ...children) {
  document
    .getElementById("report")
    .append(
      el("section", { id, "aria-labelledby": `${id}-title` }, el("h2", { id: `${id}-title` }, title), ...children),
    );
}

function table(columns, rows) {
  const head = columns.map((c) => el("th", { scope: "col", class: c.number ? "number" : null }, c.title));
  const body = rows.map((row) =>
    el(
      "tr",
      {},
      columns.map((c) => el("td", { class: c.number ? "number" : c.class }, c.cell(row))),
    ),
  );
  return el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, head)), el("tbody", {}, body)));
}

function legend(items) {
  return el(
    "ul",
    { class: "legend" },
    items.map(([name, shade]) => el("li", {}, el("i", { style: `background:${shade}` }), name)),
  );
}

// A canvas that is as sharp as the screen; draw(context, width, height) runs again when its width or the theme changes.
function drawn(height, label, draw) {
  const canvas = el("canvas", { role: "img", "aria-label": label, tabindex: "0" });
  const redraw = () => {
    const width = canvas.clientWidth,
      ratio = window.devicePixelRatio || 1,
      tall = typeof height === "function" ? height(width) : height;
    if (!width) return;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(tall * ratio);
    canvas.style.height = `${tall}px`;
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, tall);
    draw(context, width, tall);
  };
  new ResizeObserver(redraw).observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  return { canvas, redraw };
}
