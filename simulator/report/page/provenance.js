// Why the figures are what they are: settings and where each comes from, formulas, constants with sources, doubts, checks.
function figureRows(entry) {
  const value = (amount, unit) =>
    unit === "s" ? seconds(amount) : unit === "B" ? bytes(amount) : `${count(amount)} ${unit}`;
  return el(
    "details",
    {},
    el("summary", {}, el("code", {}, entry.figure), ` = ${value(entry.value, entry.unit)}: ${entry.formula}`),
    table(
      [
        { title: "Term", cell: (t) => words(t.name) },
        { title: "Value", number: true, cell: (t) => value(t.value, t.unit) },
        { title: "How", class: "name", cell: (t) => t.formula },
        { title: "Constants", class: "name small", cell: (t) => t.constants.join(", ") },
      ],
      entry.terms,
    ),
  );
}

function settings(report) {
  const shown = (value) => (typeof value === "object" && value !== null ? JSON.stringify(value) : String(value));
  const rows = Object.entries(report.config).map(([name, value]) => ({
    name,
    value: shown(value),
    origin: report.config_origins?.[name] ?? "assumed",
  }));
  rows.sort((a, b) => (a.origin === "assumed") - (b.origin === "assumed"));
  const badge = (origin) =>
    el("span", { class: `badge ${{ given: "good", published: "good", assumed: "warn" }[origin]}` }, origin);
  return el(
    "details",
    { open: true },
    el(
      "summary",
      {},
      `Settings: ${rows.filter((r) => r.origin !== "assumed").length} given or published, the rest assumed`,
    ),
    table(
      [
        { title: "Setting", cell: (r) => el("code", {}, r.name) },
        { title: "Value", class: "name", cell: (r) => r.value },
        { title: "Origin", cell: (r) => badge(r.origin) },
      ],
      rows,
    ),
  );
}

function constants(report) {
  const rows = report.provenance.constants;
  return el(
    "details",
    {},
    el("summary", {}, `${rows.length} constants with their sources`),
    table(
      [
        { title: "Constant", cell: (c) => el("code", {}, c.name) },
        {
          title: "Value",
          number: true,
          cell: (c) =>
            `${Number(c.value)
              .toPrecision(6)
              .replace(/\.?0+($|e)/, "$1")} ${c.unit}`,
        },
        { title: "Known by", cell: (c) => c.confidence },
        { title: "Source", class: "name", cell: (c) => c.source },
      ],
      rows,
    ),
  );
}

function provenanceSection(report) {
  const { coverage, checks } = report;
  section(
    "provenance",
    "Where the figures come from",
    el(
      "p",
      {},
      `${percent(coverage.share_of_time_modelled)} of the time is costed by models of its operators (${count(coverage.operators_modelled)} of ${count(coverage.operators_total)}).`,
    ),
    coverage.fallbacks.length
      ? table(
          [
            { title: "By a fallback", cell: (f) => f.op },
            { title: "From", class: "name", cell: (f) => f.source || "the step itself" },
            { title: "Times", number: true, cell: (f) => count(f.count) },
          ],
          coverage.fallbacks,
        )
      : null,
    ...(report.provenance.headline ?? []).map(figureRows),
    settings(report),
    constants(report),
    el(
      "details",
      {},
      el("summary", {}, `${checks.length} laws checked, all hold`),
      el(
        "ul",
        {},
        checks.map((c) => el("li", {}, el("strong", {}, c.name), `: ${c.detail}`)),
      ),
    ),
  );
  section(
    "doubts",
    "Notes, and what hardware does otherwise",
    el(
      "ul",
      {},
      report.notes.map((note) => el("li", {}, note.message, " ", el("code", { class: "soft" }, note.code))),
    ),
    el("h3", {}, "Differences from hardware"),
    el(
      "ul",
      {},
      (report.differences ?? []).map((d) => el("li", {}, d.message)),
    ),
    costWords(report),
    el(
      "p",
      { class: "soft small wide" },
      `Engine ${report.engine.release}, ${report.engine.fingerprint.slice(0, 12)}; schema ${report.schema}`,
      report.simulation
        ? `; simulated in ${seconds(report.simulation.cpu_seconds)} of a CPU with ${bytes(report.simulation.peak_bytes)}`
        : "",
      report.model.sha256 ? `; model ${report.model.sha256}` : "",
      ".",
    ),
  );
}

function costWords(report) {
  const { costs } = report;
  if (!costs) return null;
  return el(
    "p",
    { class: "soft small" },
    `Energy: ${costs.energy.formula}. `,
    costs.price ? `Price: ${costs.price.formula}.` : "Price: none is published for this machine.",
  );
}
