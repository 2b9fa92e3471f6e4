// Bytes alive over the program, all tiles together: what is there all the time below, what comes and goes above.
function livenessSection(report) {
  const { memory } = report,
    points = memory.liveness;
  if (points.length < 2) return;
  const last = points[points.length - 1].op || 1,
    top = Math.max(...points.map((p) => p.always_live + p.not_always_live)) * 1.05;
  const x = (p) => 60 + (p.op / last) * 725,
    y = (amount) => 190 - (amount / top) * 175;
  const area = (height) =>
    `${points.map((p, i) => `${i ? "L" : "M"}${x(p).toFixed(1)},${y(height(p)).toFixed(1)}`).join("")}L${x(points[points.length - 1])},190L60,190Z`;
  const peak = points.find((p) => p.op === memory.peak_step?.op) ?? points[0];
  const chart = svg(
    "svg",
    { viewBox: "0 0 800 215", role: "img", "aria-label": "Bytes alive over the program" },
    svg("path", { d: area((p) => p.always_live + p.not_always_live), fill: "var(--exchange)" }),
    svg("path", { d: area((p) => p.always_live), fill: "var(--compute)" }),
    [0, 0.5, 1].map((share) =>
      svg(
        "g",
        {},
        svg("line", { class: "axis", x1: 60, x2: 785, y1: y((top / 1.05) * share), y2: y((top / 1.05) * share) }),
        svg("text", { x: 56, y: y((top / 1.05) * share) + 4, "text-anchor": "end" }, bytes((top / 1.05) * share)),
      ),
    ),
    svg("line", { x1: x(peak), x2: x(peak), y1: 12, y2: 190, stroke: "var(--ink)", "stroke-dasharray": "4 3" }),
    svg("text", { x: Math.min(x(peak) + 4, 690), y: 12 }, "a tile is fullest here"),
    svg("text", { x: 60, y: 208 }, "first operator"),
    svg("text", { x: 785, y: 208, "text-anchor": "end" }, `operator ${last}`),
  );
  chart.addEventListener("pointermove", (event) => {
    const box = chart.getBoundingClientRect(),
      op = ((((event.clientX - box.left) / box.width) * 800 - 60) / 725) * last;
    const near = points.reduce((best, p) => (Math.abs(p.op - op) < Math.abs(best.op - op) ? p : best));
    showTip(
      event,
      el("strong", {}, near.source || `operator ${near.op}`),
      pairs([
        ["comes and goes", bytes(near.not_always_live)],
        ["always there", bytes(near.always_live)],
      ]),
    );
  });
  chart.addEventListener("pointerleave", hideTip);
  const share = points[0].always_live / (peak.always_live + peak.not_always_live);
  section(
    "liveness",
    "Liveness",
    chart,
    legend([
      ["always there: code, constants, weights, state", "var(--compute)"],
      ["comes and goes: activations, gradients, temporaries", "var(--exchange)"],
    ]),
    el(
      "p",
      { class: "soft small" },
      `At its fullest, ${percent(share, 0)} of what lives is always there${peak.source ? `; it is at ${peak.source}` : ""}.`,
    ),
  );
}
