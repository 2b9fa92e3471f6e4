// The same model on other sizes of slice, and beside the GPU that one would pick instead.
function scalingSection(report) {
  const rows = report.scaling ?? [],
    other = report.comparator;
  const children = [];
  if (rows.length > 1)
    children.push(
      table(
        [
          {
            title: "IPUs",
            number: true,
            cell: (r) => el("span", { class: r.ipus === report.parallel.ipus ? "good" : null }, count(r.ipus)),
          },
          { title: "Replicas", number: true, cell: (r) => count(r.replicas) },
          { title: "Global batch", number: true, cell: (r) => count(r.global_batch) },
          { title: "Step", number: true, cell: (r) => seconds(r.step_seconds) },
          { title: "Samples a second", number: true, cell: (r) => count(r.samples_per_second) },
          { title: "Efficiency", number: true, cell: (r) => percent(r.efficiency, 0) },
          {
            title: "",
            cell: (r) =>
              el(
                "div",
                { class: "mini" },
                el("i", { style: `width:${Math.min(1, r.efficiency) * 100}%;background:var(--compute)` }),
              ),
          },
        ],
        rows,
      ),
      el(
        "p",
        { class: "soft small" },
        "Replicas are added, each with the same micro-batch and accumulation: the global batch grows with them. Efficiency is against the smallest slice.",
      ),
    );
  if (other)
    children.push(
      el("h3", {}, `Beside ${other.gpus} x ${other.gpu}`),
      table(
        [
          { title: "", cell: (r) => r[0] },
          { title: "This slice", number: true, cell: (r) => r[1] },
          { title: other.gpu, number: true, cell: (r) => r[2] },
        ],
        comparatorRows(report, other),
      ),
      el("p", { class: "soft small" }, `${other.basis}.`),
    );
  if (children.length) section("scaling", "Scaling", ...children);
}

function comparatorRows(report, other) {
  const figure = (value, word) => (value === null || value === undefined ? "not known" : word(value));
  const range = (pair) => (pair ? `${count(pair[0])} to ${count(pair[1])}` : "not known");
  const { costs } = report,
    short = (value) => value.toPrecision(3);
  return [
    ["samples a second", figure(report.samples_per_second, count), figure(other.samples_per_second, count)],
    ["interval", range(report.intervals.samples_per_second), range(other.intervals.samples_per_second)],
    ["step", figure(report.step_seconds, seconds), figure(other.step_seconds, seconds)],
    [
      "joules a sample",
      figure(costs?.energy.joules_a_sample, short),
      figure(other.joules_per_million_samples && other.joules_per_million_samples / 1e6, short),
    ],
    [
      "USD a million samples",
      figure(costs?.price?.usd_a_million_samples, short),
      figure(other.usd_per_million_samples, short),
    ],
  ];
}
