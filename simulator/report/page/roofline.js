// Operators under the roofs of the chip: work for each byte read in a tile, or moved between tiles, against what was reached.
function roofChart(report, which) {
  const { roofs, points } = report.roofline;
  const rate = which === "sram" ? roofs.sram_bytes : roofs.exchange_bytes,
    of = (p) => (which === "sram" ? p.flops_per_byte : p.flops_per_exchanged_byte);
  const shown = points.filter((p) => of(p));
  if (!shown.length) return el("p", { class: "soft" }, "No operator moves bytes of this kind.");
  const xs = [...shown.map(of), roofs.matrix_flops / rate],
    ys = [...shown.map((p) => p.flops_per_second), roofs.matrix_flops];
  const low = [Math.log10(Math.min(...xs)) - 0.2, Math.log10(Math.min(...ys)) - 0.2],
    high = [Math.log10(Math.max(...xs)) + 0.3, Math.log10(roofs.matrix_flops) + 0.2];
  const x = (value) => 92 + ((Math.log10(value) - low[0]) / (high[0] - low[0])) * 688,
    y = (value) => 300 - ((Math.log10(value) - low[1]) / (high[1] - low[1])) * 285;
  const inside = (value) => Math.max(300 - 285, Math.min(300, value)),
    ridge = roofs.matrix_flops / rate,
    left = 10 ** low[0];
  const ticks = (a, b) => {
    const found = [];
    for (let i = Math.ceil(a); i <= b; i += Math.max(1, Math.floor((b - a) / 6))) found.push(i);
    return found;
  };
  const start = Math.max(left, 10 ** low[1] / rate),
    most = Math.max(...shown.map((p) => p.seconds));
  return svg(
    "svg",
    { viewBox: "0 0 800 340", role: "img", "aria-label": "Roofline" },
    ticks(low[0], high[0]).map((i) =>
      svg(
        "g",
        {},
        svg("line", { class: "axis", x1: x(10 ** i), x2: x(10 ** i), y1: 15, y2: 300 }),
        svg("text", { x: x(10 ** i), y: 316, "text-anchor": "middle" }, i >= 0 && i < 5 ? String(10 ** i) : `1e${i}`),
      ),
    ),
    ticks(low[1], high[1]).map((i) =>
      svg(
        "g",
        {},
        svg("line", { class: "axis", x1: 92, x2: 780, y1: y(10 ** i), y2: y(10 ** i) }),
        svg("text", { x: 88, y: y(10 ** i) + 4, "text-anchor": "end" }, flops(10 ** i).replace(".0 ", " ")),
      ),
    ),
    svg("path", {
      d: `M${x(start)},${inside(y(start * rate))}L${x(ridge)},${y(roofs.matrix_flops)}L780,${y(roofs.matrix_flops)}`,
      fill: "none",
      stroke: "var(--ink)",
      "stroke-width": 2,
    }),
    svg("line", {
      x1: x(Math.max(start, roofs.vector_flops / rate)),
      x2: 780,
      y1: inside(y(roofs.vector_flops)),
      y2: inside(y(roofs.vector_flops)),
      stroke: "var(--ink)",
      "stroke-dasharray": "6 4",
    }),
    svg(
      "text",
      { x: 776, y: y(roofs.matrix_flops) - 5, "text-anchor": "end" },
      `matrix unit ${flops(roofs.matrix_flops)}`,
    ),
    svg(
      "text",
      { x: 776, y: inside(y(roofs.vector_flops)) - 5, "text-anchor": "end" },
      `vector unit ${flops(roofs.vector_flops)}`,
    ),
    svg(
      "text",
      { x: 425, y: 334, "text-anchor": "middle" },
      which === "sram" ? "FLOP for each byte of operands and results" : "FLOP for each byte received from other tiles",
    ),
    shown.map((p) =>
      svg("circle", {
        cx: x(of(p)),
        cy: y(p.flops_per_second),
        r: 3 + 7 * Math.sqrt(p.seconds / most),
        fill: `var(--${p.pass})`,
        "fill-opacity": 0.65,
        stroke: "var(--card)",
        onpointermove: (event) =>
          showTip(
            event,
            el("strong", {}, p.name),
            ` (${p.pass}, ${p.kind})`,
            pairs([
              ["takes", seconds(p.seconds)],
              ["reaches", flops(p.flops_per_second)],
              ["of its unit's peak", percent(p.share_of_peak)],
              ["lowest roof", `${p.roof}, ${percent(p.share_of_roof)} of it`],
            ]),
          ),
        onpointerleave: hideTip,
      }),
    ),
  );
}

function rooflineSection(report) {
  if (!report.roofline?.points.length) return;
  const place = el("div"),
    names = { sram: "Memory of a tile", exchange: "Exchange between tiles" };
  const buttons = Object.entries(names).map(([which, title]) =>
    el("button", { type: "button", "aria-pressed": "false", onclick: () => choose(which) }, title),
  );
  const choose = (which) => {
    buttons.forEach((b) => b.setAttribute("aria-pressed", String(b.textContent === names[which])));
    place.replaceChildren(el("div", { class: "scroll" }, roofChart(report, which)));
  };
  const passes = [...new Set(report.roofline.points.map((p) => p.pass))];
  section(
    "roofline",
    "Roofline",
    el("div", { class: "controls" }, buttons),
    place,
    legend(passes.map((pass) => [words(pass), `var(--${pass})`])),
    el(
      "p",
      { class: "soft small" },
      "Of one IPU. Larger circles take longer; compute, exchange and barriers of an operator count in its time, so that even perfect work stays below the roof.",
    ),
  );
  choose("sram");
}
