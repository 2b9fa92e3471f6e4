// The first screen: what was simulated, the figures with their intervals, whether it fits, what binds it.
function card(title, figure, ...more) {
  return el(
    "div",
    { class: "card" },
    el("span", {}, title),
    el("b", {}, figure),
    ...more.map((text) => el("span", {}, text)),
  );
}

function headline(report) {
  const { parallel, config, intervals, memory, time, costs } = report;
  const task = config.task === "train" ? "training" : "inference";
  const worst = memory.worst_tile,
    share = worst.bytes / memory.bytes_per_tile;
  const range = (pair, word) => `${word(pair[0])} to ${word(pair[1])}`;
  const cards = [
    card("Step", seconds(report.step_seconds), range(intervals.step_seconds, seconds)),
    card(
      "Throughput",
      `${count(report.samples_per_second)} /s`,
      `${range(intervals.samples_per_second, count)} samples a second`,
    ),
    card("Fullest tile", percent(share), `${bytes(worst.bytes)} of ${bytes(memory.bytes_per_tile)}`),
    card(
      "Global batch",
      count(parallel.global_batch),
      parallel.batch ? parallel.batch.equation : `${parallel.micro_batch} x ${parallel.replicas}`,
    ),
  ];
  if (report.latency) cards.push(card("Latency", seconds(report.latency.seconds), "of one micro-batch, host to host"));
  if (costs)
    cards.push(
      card("Energy", `${costs.energy.joules_a_sample.toPrecision(3)} J`, `a sample; ${count(costs.watts)} W in all`),
    );
  if (costs?.price)
    cards.push(card("Price", `${costs.price.usd_a_million_samples.toPrecision(3)} USD`, "a million samples"));
  document
    .getElementById("top")
    .append(
      el("h1", {}, report.model.name, ": ", task, " on ", parallel.system),
      el(
        "p",
        { class: "soft" },
        `${count(report.model.parameters)} parameters, ${parallel.ipus} IPUs in ${parallel.replicas} replica${parallel.replicas > 1 ? "s" : ""}, ${config.precision}, partials ${config.partials}. `,
        el("span", { class: "badge warn" }, "simulated, not measured"),
        " ",
        el("span", { class: `badge ${report.fits ? "good" : "bad"}` }, report.fits ? "fits in memory" : "does not fit"),
      ),
      el("div", { class: "cards" }, cards),
      el("p", {}, el("strong", {}, time.sentence)),
      el("p", { class: "soft small" }, "Intervals: ", intervals.basis, "."),
    );
}

function contents() {
  const titles = [...document.querySelectorAll("main section")].map((part) => [
    part.id,
    part.querySelector("h2").textContent,
  ]);
  document.getElementById("contents").append(
    el(
      "ul",
      {},
      titles.map(([id, title]) => el("li", {}, el("a", { href: `#${id}` }, title))),
    ),
  );
}
