// Where a step goes: by part, by pass, by IPU and by stage.
const PARTS = ["compute", "exchange", "sync", "copy", "host", "collective", "bubble"];
const PART_WORDS = {
  compute: "compute",
  exchange: "exchange",
  sync: "sync",
  copy: "copies between stages",
  host: "host",
  collective: "collectives",
  bubble: "waiting for stages",
};

function partBar(times, total, className = "bar") {
  const shown = PARTS.filter((part) => times[`${part}_seconds`] > 0);
  return el(
    "div",
    {
      class: className,
      role: "img",
      "aria-label": shown.map((part) => `${PART_WORDS[part]} ${percent(times[`${part}_seconds`] / total)}`).join(", "),
    },
    shown.map((part) =>
      el("i", {
        style: `width:${(times[`${part}_seconds`] / total) * 100}%;background:var(--${part})`,
        onpointermove: (event) =>
          showTip(
            event,
            `${PART_WORDS[part]}: ${seconds(times[`${part}_seconds`])}, ${percent(times[`${part}_seconds`] / total)}`,
          ),
        onpointerleave: hideTip,
      }),
    ),
  );
}

function timeSection(report) {
  const { time, parallel } = report,
    total = time.total_seconds;
  const shown = PARTS.filter((part) => time[`${part}_seconds`] > 0);
  const rows = shown.map((part) => ({ part, value: time[`${part}_seconds`] }));
  const children = [
    partBar(time, total),
    legend(shown.map((part) => [`${PART_WORDS[part]} ${percent(time[`${part}_seconds`] / total)}`, `var(--${part})`])),
    table(
      [
        { title: "Part", cell: (r) => PART_WORDS[r.part] },
        { title: "Time", number: true, cell: (r) => seconds(r.value) },
        { title: "Share", number: true, cell: (r) => percent(r.value / total) },
      ],
      rows,
    ),
    el(
      "p",
      { class: "soft small" },
      `${count(time.supersteps)} supersteps; passes: `,
      Object.entries(time.passes)
        .filter(([, v]) => v > 0)
        .map(([name, v]) => `${name} ${seconds(v)}`)
        .join(", "),
      ".",
    ),
  ];
  if ((time.ipus ?? []).length > 1) {
    children.push(
      el("h3", {}, "Each IPU of a replica"),
      table(
        [
          { title: "IPU", cell: (r) => String(r.ipu) },
          { title: "Stages", cell: (r) => r.stages.join(", ") },
          { title: "Time", cell: (r) => partBar(r, total, "mini") },
          { title: "Waits for others", number: true, cell: (r) => percent(r.bubble_seconds / total) },
        ],
        time.ipus,
      ),
    );
    children.push(
      el("h3", {}, "Stages"),
      table(
        [
          { title: "Stage", cell: (r) => String(r.stage) },
          { title: "IPU", cell: (r) => String(r.ipu) },
          { title: "Begins at", class: "name", cell: (r) => r.begins },
          { title: "Forward", number: true, cell: (r) => seconds(r.forward_seconds) },
          { title: "Backward", number: true, cell: (r) => seconds(r.backward_seconds) },
          { title: "Update", number: true, cell: (r) => seconds(r.update_seconds) },
          { title: "Fullest tile", number: true, cell: (r) => bytes(r.worst_tile_bytes) },
        ],
        parallel.stages,
      ),
    );
  }
  section("time", "Time", ...children);
}
