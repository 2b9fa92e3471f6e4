// The order of a step: the pipeline's blocks over all IPUs, and the operators of one IPU with their compute, exchange, sync.
function zoomable(height, label, draw, find) {
  let from = 0,
    to = 1,
    held = null;
  const { canvas, redraw } = drawn(height, label, (context, width, tall) => draw(context, width, tall, from, to));
  const set = (low, high) => {
    const span = Math.min(1, Math.max(1e-5, high - low));
    from = Math.max(0, Math.min(1 - span, low));
    to = from + span;
    redraw();
  };
  const zoom = (factor, at = (from + to) / 2) => set(at - (at - from) * factor, at + (to - at) * factor);
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return {
      share: from + ((event.clientX - box.left) / box.width) * (to - from),
      y: event.clientY - box.top,
      width: box.width,
    };
  };
  canvas.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey && !event.shiftKey) return;
      event.preventDefault();
      zoom(event.deltaY > 0 ? 1.25 : 0.8, place(event).share);
    },
    { passive: false },
  );
  canvas.addEventListener("pointerdown", (event) => {
    held = { x: event.clientX, from, to };
  });
  canvas.addEventListener("pointermove", (event) => {
    if (held && event.buttons) {
      const moved = ((event.clientX - held.x) / canvas.clientWidth) * (held.to - held.from);
      set(held.from - moved, held.to - moved);
      hideTip();
      return;
    }
    held = null;
    const { share, y } = place(event),
      content = find(share, y);
    if (content) showTip(event, ...content);
    else hideTip();
  });
  canvas.addEventListener("pointerleave", () => {
    held = null;
    hideTip();
  });
  canvas.addEventListener("keydown", (event) => {
    const span = to - from,
      act = {
        "+": () => zoom(0.6),
        "-": () => zoom(1.6),
        ArrowLeft: () => set(from - span / 5, to - span / 5),
        ArrowRight: () => set(from + span / 5, to + span / 5),
        0: () => set(0, 1),
      }[event.key];
    if (act) {
      event.preventDefault();
      act();
    }
  });
  const button = (text, title, act) => el("button", { type: "button", title, "aria-label": title, onclick: act }, text);
  const controls = el(
    "div",
    { class: "controls" },
    button("+", "Zoom in", () => zoom(0.5)),
    button("−", "Zoom out", () => zoom(2)),
    button("‹", "Earlier", () => set(from - (to - from) / 2, to - (to - from) / 2)),
    button("›", "Later", () => set(from + (to - from) / 2, to + (to - from) / 2)),
    button("All", "Show all of it", () => set(0, 1)),
    el("span", { class: "soft small" }, "Drag to move; Ctrl and wheel to zoom."),
  );
  return { canvas, controls, redraw, set };
}

function label(context, text, x, y, width) {
  if (width < 26) return;
  context.fillStyle = colour("on");
  context.font = "11px system-ui, sans-serif";
  let shown = text;
  while (shown && context.measureText(shown).width > width - 6) shown = shown.slice(0, -1);
  if (shown.length > 2 || shown === text) context.fillText(shown, x + 3, y);
}

function pipelineView(line, parallel) {
  const blocks = line.pipeline,
    ipus = [...new Set(blocks.map((b) => b.ipu))].sort((a, b) => a - b),
    end = Math.max(...blocks.map((b) => b.start + b.cycles));
  const lane = 26,
    tall = ipus.length * lane + 18;
  const row = new Map(ipus.map((ipu, i) => [ipu, i]));
  const draw = (context, width, height, from, to) => {
    const x = (cycles) => ((cycles / end - from) / (to - from)) * width;
    ipus.forEach((ipu, i) => {
      context.fillStyle = colour("bubble");
      context.globalAlpha = 0.35;
      context.fillRect(0, i * lane + 2, width, lane - 4);
      context.globalAlpha = 1;
    });
    for (const block of blocks) {
      const left = x(block.start),
        wide = x(block.start + block.cycles) - left;
      if (left > width || left + wide < 0) continue;
      context.fillStyle = colour(block.kind);
      context.fillRect(left, row.get(block.ipu) * lane + 2, Math.max(0.6, wide - 0.5), lane - 4);
      label(context, `${block.micro_batch}`, left, row.get(block.ipu) * lane + 17, wide);
    }
    context.fillStyle = colour("soft");
    context.font = "11px system-ui, sans-serif";
    context.fillText(seconds((from * end) / line.clock_hz), 2, height - 4);
    const last = seconds((to * end) / line.clock_hz);
    context.fillText(last, width - context.measureText(last).width - 2, height - 4);
  };
  const find = (share, y) => {
    const ipu = ipus[Math.floor(y / lane)],
      at = share * end;
    if (ipu === undefined) return null;
    const block = blocks.find((b) => b.ipu === ipu && b.start <= at && at < b.start + b.cycles);
    if (!block) return [`IPU ${ipu} waits, or its IPU-Links copy`];
    return [
      el("strong", {}, `${block.kind} of micro-batch ${block.micro_batch}`),
      pairs([
        ["IPU", ipu],
        ["stage", block.stage],
        ["takes", seconds(block.cycles / line.clock_hz)],
        ["begins", seconds(block.start / line.clock_hz)],
      ]),
    ];
  };
  const view = zoomable(tall, "Pipeline of a replica by IPU", draw, find);
  const whole =
    blocks.length < 2 * parallel.stages.length * (parallel.batch?.accumulation ?? 1)
      ? " Only the beginning of a long step is drawn."
      : "";
  return [
    el("h3", {}, "Pipeline of a replica, one step"),
    view.controls,
    view.canvas,
    legend([
      ["forward", "var(--forward)"],
      ["backward", "var(--backward)"],
      ["waiting or copying", "var(--bubble)"],
    ]),
    el("p", { class: "soft small" }, `One row an IPU, numbers are micro-batches.${whole}`),
  ];
}

function spansOf(ipu, line) {
  const spans = [];
  let now = 0;
  for (const part of ipu.sections.filter(({ label }) => !["copies", "waiting"].includes(label)))
    for (const [name, kind, compute, exchange, sync] of part.rows) {
      const cycles = compute + exchange + sync;
      spans.push({
        start: now,
        cycles,
        compute,
        exchange,
        sync,
        name: line.names[name] || words(line.kinds[kind]),
        kind: line.kinds[kind],
        part,
      });
      now += cycles;
    }
  return { spans, end: now };
}

function orderView(line) {
  let { spans, end } = spansOf(line.ipus[0], line);
  const draw = (context, width, height, from, to) => {
    const x = (cycles) => ((cycles / end - from) / (to - from)) * width;
    for (const span of spans) {
      const left = x(span.start),
        wide = x(span.start + span.cycles) - left;
      if (left > width || left + wide < 0) continue;
      context.fillStyle = colour(span.kind);
      context.fillRect(left, 2, Math.max(0.5, wide - (wide > 3 ? 0.5 : 0)), 30);
      label(context, span.name, left, 21, wide);
      let at = left;
      for (const phase of ["compute", "exchange", "sync"]) {
        const size = (span[phase] / span.cycles) * wide || 0;
        context.fillStyle = colour(["host", "collective", "copy", "bubble"].includes(span.kind) ? span.kind : phase);
        context.fillRect(at, 38, size, 30);
        at += size;
      }
    }
    context.fillStyle = colour("soft");
    context.font = "11px system-ui, sans-serif";
    context.fillText(seconds((from * end) / line.clock_hz), 2, height - 4);
    const last = seconds((to * end) / line.clock_hz);
    context.fillText(last, width - context.measureText(last).width - 2, height - 4);
  };
  const find = (share) => {
    const at = share * end;
    let low = 0,
      high = spans.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (spans[middle].start <= at) low = middle;
      else high = middle - 1;
    }
    const span = spans[low];
    if (!span) return null;
    const clock = line.clock_hz,
      times =
        span.part.times > 1 ? `${words(span.part.label)}, ${span.part.times} times a step` : words(span.part.label);
    return [
      el("strong", {}, span.name),
      ` (${words(span.kind)})`,
      pairs([
        ["takes", seconds(span.cycles / clock)],
        ["compute", seconds(span.compute / clock)],
        ["exchange", seconds(span.exchange / clock)],
        ["sync", seconds(span.sync / clock)],
        ["in", times],
      ]),
    ];
  };
  const view = zoomable(86, "Operators of one IPU in order", draw, find);
  const pick = el(
    "select",
    {
      "aria-label": "IPU",
      onchange: (event) => {
        ({ spans, end } = spansOf(line.ipus[event.target.selectedIndex], line));
        view.set(0, 1);
      },
    },
    line.ipus.map((ipu) => el("option", {}, `IPU ${ipu.ipu}, stage ${ipu.stages.join(", ")}`)),
  );
  if (line.ipus.length > 1) view.controls.prepend(pick);
  const kinds = [...new Set(spans.map((span) => span.kind))].filter((kind) => kind !== "bubble");
  const repeated = line.ipus[0].sections.find((part) => part.times > 1);
  return [
    el("h3", {}, "Operators in order"),
    view.controls,
    view.canvas,
    legend([
      ...kinds.map((kind) => [words(kind), `var(--${kind})`]),
      ["compute", "var(--compute)"],
      ["exchange", "var(--exchange)"],
      ["sync", "var(--sync)"],
    ]),
    repeated
      ? el("p", { class: "soft small" }, `A micro-batch is drawn once; a step has ${repeated.times} of them.`)
      : null,
  ].filter(Boolean);
}

function timelineSection(report) {
  const line = report.time.timeline;
  if (!line) return;
  section(
    "timeline",
    "Time line",
    ...(line.pipeline?.length ? pipelineView(line, report.parallel) : []),
    ...orderView(line),
  );
}
