// Learning: the button, the progress, and the chart of F1 against the number of corrections.

import { get, post } from "./api.js";
import { $, count, h, percent, put, svg } from "./dom.js";
import { state, tell } from "./state.js";

const WORDS = { idle: "", learning: "learning", suggesting: "new suggestions", scoring: "scoring", auditing: "looking for errors", done: "done", stopped: "stopped", failed: "failed" };
let was = "";

export async function start() {
  try {
    const answer = await post("/api/learning");
    show(answer.learning);
    tell("pulse");
  } catch (error) {
    tell("banner", error.message);
  }
}

export async function stop() {
  show((await post("/api/learning/stop")).learning);
}

export function show(learning) {
  state.learning = learning;
  $("#progress").hidden = !learning.running;
  $("#progress").value = learning.share;
  $("#stop").hidden = !learning.running;
  $("#learn").disabled = learning.running;
  const time = learning.seconds.suggestions;
  $("#learned").textContent = learning.phase === "done" && time ? `model ${learning.model}, suggestions after ${time.toFixed(1)} s` : WORDS[learning.phase];
  const sign = `${learning.phase} ${learning.model}`;
  if (sign !== was) {
    if (was && learning.phase === "failed") tell("banner", learning.error);
    if (was && (learning.phase === "done" || learning.phase === "scoring")) tell("learned");
    was = sign;
    if (!$("#learning").hidden) draw();
  }
}

export async function draw() {
  const answer = await get("/api/learning");
  const { curve, learning } = answer;
  put($("#learning"), h("div", { class: "cards" },
    h("section", { class: "card wide" }, h("h2", { text: "F1 against the number of corrections" }),
      curve.length ? [figures(curve), chart(curve), legend()] : h("p", { class: "dim", text: "Nothing was learned yet. Confirm some sentences and press Learn: the first model comes in seconds, and this chart grows with every one." }),
      learning.note ? h("p", { class: "warn", text: learning.note }) : null),
    curve.length ? h("section", { class: "card wide" }, h("h2", { text: "Models" }), table(curve)) : null));
}

function figures(curve) {
  const [one, before] = [curve[curve.length - 1], curve[curve.length - 2]];
  const gain = before ? 100 * (one.f1 - before.f1) : 0;
  const how = one.how === "held-out" ? "on held-out documents" : "cross-fitted";
  const shown = [[`F1, ${how}`, percent(one.f1)], ["precision", percent(one.precision)], ["recall", percent(one.recall)], ["corrections", one.corrections.toLocaleString("en")]];
  if (before) shown.push(["F1 against the model before", `${gain < 0 ? "−" : "+"}${Math.abs(gain).toFixed(1)}`]);
  return h("div", { class: "figures" }, shown.map(([text, value]) => h("div", {}, h("b", { text: value }), h("span", { text }))));
}

function legend() {
  const line = (kind) => svg("svg", { viewBox: "0 0 30 8", "aria-hidden": "true" }, svg("path", { class: kind, d: "M0 4H30" }));
  return h("p", { class: "legend" }, [["f1", "F1"], ["p", "precision"], ["r", "recall"]].map(([kind, text]) => h("span", {}, line(kind), ` ${text}`)));
}

function table(curve) {
  const heads = ["model", "corrections", "sentences", "F1", "precision", "recall", "scored on", "training"];
  return h("table", {}, h("thead", {}, h("tr", {}, heads.map((text, i) => h("th", { class: i === 6 ? null : "n", scope: "col", text })))),
    h("tbody", {}, curve.slice().reverse().map((one) => h("tr", {},
      [one.id, one.corrections, one.sentences, percent(one.f1), percent(one.precision), percent(one.recall)].map((x) => h("td", { class: "n", text: String(x) })),
      h("td", { text: one.how === "held-out" ? "held-out documents" : "cross-fitted" }), h("td", { class: "n", text: `${one.seconds.toFixed(1)} s` })))));
}

function chart(curve) {
  const [w, height, left, bottom] = [640, 260, 44, 30];
  const last = Math.max(...curve.map((one) => one.corrections), 1);
  const x = (one) => left + ((w - left - 12) * one.corrections) / last;
  const y = (value) => 12 + (height - bottom - 12) * (1 - value);
  const path = (field) => curve.map((one, i) => `${i ? "L" : "M"}${x(one).toFixed(1)} ${y(one[field]).toFixed(1)}`).join("");
  const ticks = [0, 0.25, 0.5, 0.75, 1];
  return svg("svg", { class: "chart", viewBox: `0 0 ${w} ${height}`, role: "img", "aria-label": `F1 from ${percent(curve[0].f1)} to ${percent(curve[curve.length - 1].f1)}` },
    ticks.map((t) => [svg("line", { class: "axis", x1: left, x2: w - 12, y1: y(t), y2: y(t) }), svg("text", { x: 6, y: y(t) + 4, text: `${100 * t} %` })]),
    [0, last].map((n) => svg("text", { x: x({ corrections: n }), y: height - 10, "text-anchor": n ? "end" : "start", text: count(n, "correction") })),
    svg("path", { class: "p", d: path("precision") }), svg("path", { class: "r", d: path("recall") }), svg("path", { class: "f1", d: path("f1") }),
    curve.map((one) => svg("circle", { class: "dot", cx: x(one), cy: y(one.f1), r: 4 }, svg("title", { text: `model ${one.id}: F1 ${percent(one.f1)} (${one.how})` }))));
}
