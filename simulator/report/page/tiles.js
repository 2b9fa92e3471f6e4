// Memory of tiles: a map to point at, the fullest tile by category, how evenly tiles are filled, what does not fit.
function layersOf(memory) {
  const all = new Array(memory.tiles).fill(0);
  for (const name of memory.categories)
    memory.by_tile[name].forEach((amount, tile) => {
      all[tile] += amount;
    });
  const named = memory.categories
    .filter((name) => memory.totals[name] > 0)
    .map((name) => [words(name), memory.by_tile[name]]);
  const others = (memory.ipus ?? [])
    .filter((row) => row.ipu !== memory.ipu)
    .map((row) => [`all, IPU ${row.ipu}`, row.tile_bytes]);
  return [[others.length ? `all, IPU ${memory.ipu}` : "all", all], ...named, ...others];
}

function heat(share) {
  const stops = [
    [30, 60, 110],
    [47, 111, 214],
    [90, 190, 170],
    [240, 200, 80],
    [220, 60, 40],
  ];
  const at = Math.max(0, Math.min(1, share)) * (stops.length - 1),
    low = Math.min(Math.floor(at), stops.length - 2);
  return `rgb(${stops[low].map((value, i) => Math.round(value + (stops[low + 1][i] - value) * (at - low))).join(",")})`;
}

function tileMap(memory) {
  const layers = layersOf(memory),
    limit = memory.bytes_per_tile;
  let [name, values] = layers[0],
    chosen = memory.worst_tile.tile;
  const grid = (width) => {
    const columns = width < 520 ? 32 : 64;
    return { columns, rows: Math.ceil(memory.tiles / columns), size: width / columns };
  };
  const most = () => (name.startsWith("all") ? limit : Math.max(1, ...values));
  const { canvas, redraw } = drawn(
    (width) => {
      const g = grid(width);
      return g.rows * g.size;
    },
    "Bytes of every tile",
    (context, width) => {
      const { columns, size } = grid(width),
        top = most();
      values.forEach((amount, tile) => {
        context.fillStyle = amount > limit ? "#ff2fd0" : heat(amount / top);
        context.fillRect((tile % columns) * size, Math.floor(tile / columns) * size, size - 0.6, size - 0.6);
      });
      context.strokeStyle = colour("ink");
      context.lineWidth = 2;
      context.strokeRect((chosen % columns) * size, Math.floor(chosen / columns) * size, size, size);
    },
  );
  const tileTip = (tile) =>
    [
      el("strong", {}, `Tile ${tile}: ${bytes(values[tile])}`),
      ` ${percent(values[tile] / limit)} of ${bytes(limit)}`,
      name.includes("IPU") && name !== layers[0][0]
        ? null
        : pairs(
            memory.categories
              .filter((c) => memory.by_tile[c][tile])
              .map((c) => [words(c), bytes(memory.by_tile[c][tile])]),
          ),
    ].filter(Boolean);
  const at = (event) => {
    const box = canvas.getBoundingClientRect(),
      g = grid(box.width);
    return Math.floor((event.clientY - box.top) / g.size) * g.columns + Math.floor((event.clientX - box.left) / g.size);
  };
  canvas.addEventListener("pointermove", (event) => {
    const tile = at(event);
    if (tile >= 0 && tile < memory.tiles) showTip(event, ...tileTip(tile));
    else hideTip();
  });
  canvas.addEventListener("pointerleave", hideTip);
  canvas.addEventListener("keydown", (event) => {
    const step = {
      ArrowRight: 1,
      ArrowLeft: -1,
      ArrowDown: grid(canvas.clientWidth).columns,
      ArrowUp: -grid(canvas.clientWidth).columns,
    }[event.key];
    if (!step) return;
    event.preventDefault();
    chosen = Math.max(0, Math.min(memory.tiles - 1, chosen + step));
    redraw();
    const box = canvas.getBoundingClientRect(),
      g = grid(box.width);
    showTip(
      { clientX: box.left + (chosen % g.columns) * g.size, clientY: box.top + Math.floor(chosen / g.columns) * g.size },
      ...tileTip(chosen),
    );
  });
  const pick = el(
    "select",
    {
      id: "layer",
      onchange: (event) => {
        [name, values] = layers[event.target.selectedIndex];
        redraw();
        scale.textContent = scaleWords();
      },
    },
    layers.map(([title]) => el("option", {}, title)),
  );
  const scaleWords = () => `blue 0 B, red ${bytes(most())}; pink is over ${bytes(limit)}`;
  const scale = el("span", { class: "soft small" }, scaleWords());
  return [el("div", { class: "controls" }, el("label", { for: "layer" }, "Show"), pick, scale), canvas];
}

function fullestTile(memory) {
  const { tile } = memory.worst_tile,
    limit = memory.bytes_per_tile;
  const rows = memory.categories
    .map((name, index) => ({ name, index, amount: memory.by_tile[name][tile], total: memory.totals[name] }))
    .filter((row) => row.total > 0);
  const whole = Math.max(limit, memory.worst_tile.bytes);
  return [
    el("h3", {}, `Tile ${tile}, the fullest: ${bytes(memory.worst_tile.bytes)} of ${bytes(limit)}`),
    el(
      "div",
      { class: "bar" },
      rows.map((row) => el("i", { style: `width:${(row.amount / whole) * 100}%;background:${paint(row.index)}` })),
    ),
    table(
      [
        {
          title: "Category",
          cell: (r) => el("span", {}, el("i", { class: "key", style: `background:${paint(r.index)}` }), words(r.name)),
        },
        { title: "On it", number: true, cell: (r) => bytes(r.amount) },
        { title: "All tiles", number: true, cell: (r) => bytes(r.total) },
      ],
      rows,
    ),
  ];
}

function spreadOfTiles(memory) {
  const [, all] = layersOf(memory)[0],
    bins = 40,
    top = Math.max(memory.bytes_per_tile, ...all),
    counts = new Array(bins).fill(0);
  for (const amount of all) counts[Math.min(bins - 1, Math.floor((amount / top) * bins))] += 1;
  const most = Math.max(...counts),
    mean = all.reduce((a, b) => a + b, 0) / all.length,
    x = (amount) => 40 + (amount / top) * 540;
  return [
    el("h3", {}, "How evenly tiles are filled"),
    svg(
      "svg",
      {
        viewBox: "0 0 600 130",
        role: "img",
        "aria-label": `Tiles by bytes held; mean ${bytes(mean)}, most ${bytes(memory.worst_tile.bytes)}`,
      },
      counts.map((tiles, i) =>
        svg("rect", {
          x: 40 + (i * 540) / bins,
          y: 100 - (tiles / most) * 85,
          width: 540 / bins - 1,
          height: (tiles / most) * 85,
          fill: "var(--compute)",
        }),
      ),
      [
        [mean, "mean"],
        [memory.bytes_per_tile, "limit"],
      ].map(([amount, word]) =>
        svg(
          "g",
          {},
          svg("line", {
            x1: x(amount),
            x2: x(amount),
            y1: 12,
            y2: 100,
            stroke: `var(--${word === "limit" ? "bad" : "ink"})`,
            "stroke-dasharray": "4 3",
          }),
          svg("text", { x: Math.min(x(amount) + 3, 560), y: 10 }, word),
        ),
      ),
      svg("line", { class: "axis", x1: 40, x2: 580, y1: 100, y2: 100 }),
      svg("text", { x: 40, y: 116 }, "0 B"),
      svg("text", { x: 580, y: 116, "text-anchor": "end" }, bytes(top)),
    ),
  ];
}

function overflowNotice(memory) {
  const over = memory.overflow;
  if (!over) return [];
  return [
    el(
      "div",
      { class: "notice" },
      el(
        "p",
        {},
        el(
          "strong",
          {},
          `Tile ${over.tile} needs ${bytes(over.over_by)} more than it has, at step ${over.step} of the program.`,
        ),
      ),
      over.poplar_message ? el("p", {}, "Poplar would say: ", el("code", {}, over.poplar_message)) : null,
      el(
        "ol",
        { class: "remedies" },
        over.remedies.map((remedy) =>
          el(
            "li",
            {},
            remedy.text,
            remedy.simulated
              ? el(
                  "span",
                  { class: `small ${remedy.simulated.fits ? "good" : "warn"}` },
                  " ",
                  remedy.simulated.sentence,
                )
              : null,
          ),
        ),
      ),
    ),
  ];
}

function memorySection(report) {
  const { memory } = report;
  const tensors = table(
    [
      { title: "Largest tensors on it", class: "name", cell: (t) => t.name || "(unnamed)" },
      { title: "From", class: "name", cell: (t) => t.source },
      { title: "Category", cell: (t) => words(t.category) },
      { title: "Bytes", number: true, cell: (t) => bytes(t.bytes) },
    ],
    memory.worst_tile.top_tensors,
  );
  section(
    "memory",
    "Memory",
    ...overflowNotice(memory),
    el(
      "div",
      { class: "columns" },
      el("div", {}, ...tileMap(memory), ...spreadOfTiles(memory)),
      el("div", {}, ...fullestTile(memory)),
    ),
    tensors,
  );
}
