// Operators in a table that sorts and filters, and the layers that they make up as a tree.
const SHOWN = 25;
const parts = (row) => {
  const all = Math.max(1, row.compute_cycles + row.exchange_cycles + row.sync_cycles),
    special = { host: "host", collective: "collective", copy: "copy" }[row.kind];
  const shares = special
    ? [[special, 1]]
    : [
        ["compute", row.compute_cycles / all],
        ["exchange", row.exchange_cycles / all],
        ["sync", row.sync_cycles / all],
      ];
  return el(
    "div",
    { class: "mini", title: shares.map(([name, share]) => `${name} ${percent(share, 0)}`).join(", ") },
    shares.map(([name, share]) => el("i", { style: `width:${share * 100}%;background:var(--${name})` })),
  );
};

function operatorTable(report) {
  const several = (report.time.ipus ?? []).length > 1;
  const columns = [
    { title: "Operator", key: "name", class: "name", cell: (r) => r.name },
    { title: "Pass", key: "pass", cell: (r) => r.pass },
    { title: "Kind", key: "kind", cell: (r) => r.kind },
    ...(several
      ? [
          {
            title: "IPU",
            key: "ipu",
            number: true,
            cell: (r) => (["host", "collective", "copy"].includes(r.kind) ? "all" : String(r.ipu)),
          },
        ]
      : []),
    { title: "Times", key: "count", number: true, cell: (r) => count(r.count) },
    { title: "Time", key: "seconds", number: true, cell: (r) => seconds(r.seconds) },
    { title: "Share", key: "share", number: true, cell: (r) => percent(r.share) },
    { title: "Compute, exchange, sync", cell: parts },
    { title: "FLOP", key: "flops", number: true, cell: (r) => (r.flops ? r.flops.toExponential(1) : "") },
    { title: "Tiles", key: "tiles_used", number: true, cell: (r) => count(r.tiles_used) },
    { title: "Bound by", key: "bound_by", cell: (r) => r.bound_by },
  ];
  let key = "seconds",
    down = true,
    wanted = "",
    all = false;
  const body = el("tbody"),
    more = el("button", {
      type: "button",
      onclick: () => {
        all = true;
        show();
      },
    });
  const show = () => {
    const rows = report.operators.filter((r) =>
      `${r.name} ${r.kind} ${r.pass} ${r.primitive}`.toLowerCase().includes(wanted),
    );
    rows.sort(
      (a, b) => (typeof a[key] === "string" ? String(a[key]).localeCompare(b[key]) : a[key] - b[key]) * (down ? -1 : 1),
    );
    const shown = all ? rows : rows.slice(0, SHOWN);
    body.replaceChildren(
      ...shown.map((r) =>
        el(
          "tr",
          {},
          columns.map((c) => el("td", { class: c.number ? "number" : c.class }, c.cell(r))),
        ),
      ),
    );
    more.hidden = shown.length === rows.length;
    more.textContent = `Show all ${rows.length}`;
    heads.forEach((head, i) =>
      head.setAttribute("aria-sort", columns[i].key === key ? (down ? "descending" : "ascending") : "none"),
    );
  };
  const heads = columns.map((c) =>
    el(
      "th",
      { scope: "col", class: c.number ? "number" : null },
      c.key
        ? el(
            "button",
            {
              type: "button",
              onclick: () => {
                down = key === c.key ? !down : c.number === true;
                key = c.key;
                show();
              },
            },
            c.title,
          )
        : c.title,
    ),
  );
  show();
  const search = el("input", {
    type: "search",
    placeholder: "Filter by name, kind, pass",
    "aria-label": "Filter operators",
    oninput: (event) => {
      wanted = event.target.value.toLowerCase();
      show();
    },
  });
  return el(
    "div",
    {},
    el("div", { class: "controls" }, search),
    el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, heads)), body)),
    el("p", {}, more),
  );
}

function layerTree(report) {
  const rows = report.layers ?? [],
    open = new Set();
  const parent = (row) =>
    rows.filter((other) => other.depth === row.depth - 1 && row.name.startsWith(`${other.name}.`)).pop();
  const parents = new Map(rows.map((row) => [row, parent(row)])),
    holds = new Set(parents.values());
  const visible = (row) => {
    const up = parents.get(row);
    return !up || (open.has(up) && visible(up));
  };
  const body = el("tbody");
  const show = () =>
    body.replaceChildren(
      ...rows.filter(visible).map((row) =>
        el(
          "tr",
          {},
          el(
            "td",
            { class: "name", style: `padding-left:${row.depth * 1.1 - 0.6}rem` },
            holds.has(row)
              ? el(
                  "button",
                  {
                    type: "button",
                    "aria-expanded": String(open.has(row)),
                    onclick: () => {
                      if (open.has(row)) open.delete(row);
                      else open.add(row);
                      show();
                    },
                  },
                  `${open.has(row) ? "−" : "+"} ${row.name
                    .split(".")
                    .slice(row.depth - 1)
                    .join(".")}`,
                )
              : row.name
                  .split(".")
                  .slice(row.depth - 1)
                  .join("."),
          ),
          el("td", { class: "number" }, count(row.nodes)),
          el("td", { class: "number" }, seconds(row.seconds)),
          el("td", { class: "number" }, percent(row.share)),
          el("td", {}, parts(row)),
        ),
      ),
    );
  show();
  const head = [["Layer"], ["Nodes", 1], ["Time", 1], ["Share", 1], ["Compute, exchange, sync"]].map(
    ([title, number]) => el("th", { scope: "col", class: number ? "number" : null }, title),
  );
  return el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, head)), body));
}

function operatorsSection(report) {
  const views = { Operators: () => operatorTable(report), Layers: () => layerTree(report) };
  const place = el("div"),
    buttons = Object.keys(views).map((name) =>
      el("button", { type: "button", "aria-pressed": "false", onclick: () => choose(name) }, name),
    );
  const choose = (name) => {
    buttons.forEach((b) => b.setAttribute("aria-pressed", String(b.textContent === name)));
    place.replaceChildren(views[name]());
  };
  section("operators", "Operators", el("div", { class: "controls" }, buttons), place);
  choose("Operators");
}
