// Annotators compared: agreement of each pair, and the sentences of a document side by side, to be settled.

import { get, post } from "./api.js";
import { $, count, h, percent, put } from "./dom.js";
import { keyOf, label, state, tell } from "./state.js";
import { sentenceNodes } from "./text.js";

let shown = null; // the document that is compared: { document, one, other }

export async function draw() {
  const place = $("#compare");
  const { pairs } = await get("/api/agreement");
  const cards = pairs.map(card);
  put(place, h("div", { class: "cards" }, cards.length ? cards : h("section", { class: "card wide" }, h("h2", { text: "Agreement" }),
    h("p", { class: "dim", text: "No two annotators have confirmed the same sentences yet. Open this page under another name (at the top right) and annotate the same documents." }))),
    h("div", { id: "pairs" }));
  if (shown && pairs.some((p) => p.one === shown.one && p.other === shown.other)) await sideBySide(shown);
}

function card(pair) {
  const labels = Object.entries(pair.labels);
  return h("section", { class: "card" }, h("h2", { text: `${pair.one} and ${pair.other}` }),
    h("p", {}, `F1 ${percent(pair.f1)}`, pair.gamma === null ? "" : `, γ ${pair.gamma.toFixed(3)}`, h("span", { class: "dim", text: ` on ${count(pair.sentences, "sentence")} that both confirmed` })),
    h("table", {}, h("thead", {}, h("tr", {}, ["label", "F1", pair.one, pair.other].map((text, i) => h("th", { class: i ? "n" : null, scope: "col", text })))),
      h("tbody", {}, labels.map(([name, one]) => h("tr", {}, h("td", { text: name }), [percent(one.f1), one.one, one.other].map((x) => h("td", { class: "n", text: String(x) })))))),
    h("p", {}, h("button", { type: "button", text: "Report", onclick: () => tell("download", `/api/report?${new URLSearchParams({ gold: pair.one, other: pair.other })}`) })),
    pair.differing.length ? [h("h3", { text: "Documents that differ" }), h("ul", { class: "list" }, pair.differing.slice(0, 50).map((one) => h("li", {},
      h("button", { type: "button", class: "link", "data-compare": one.document, text: one.name, onclick: () => sideBySide({ document: one.document, one: pair.one, other: pair.other }) }), h("small", { text: `${count(one.differ, "mention")} in one of the two only` }))))]
      : h("p", { class: "dim", text: "They agree everywhere." }));
}

async function sideBySide(which) {
  shown = which;
  try {
    const answer = await get(`/api/documents/${which.document}/compare`, { one: which.one, other: which.other });
    put($("#pairs"), h("h2", { text: `${answer.name}: ${which.one} and ${which.other}` }),
      h("p", { class: "dim", text: `What only one of the two has is marked ≠. What you settle counts for learning and export. ${answer.sentences.filter((one) => one.final).length} of ${count(answer.sentences.length, "sentence")} settled.` }),
      answer.sentences.map((one) => pair(answer, one)));
    $("#pairs").scrollIntoView({ block: "start" });
  } catch (error) {
    tell("banner", error.message);
  }
}

function pair(answer, one) {
  const sentence = answer.text.sentences[one.sentence];
  const [mine, theirs] = [new Set(one.one.map(keyOf)), new Set(one.other.map(keyOf))];
  const side = (name, mentions, others) => h("div", {}, h("h3", { text: name }), h("div", { class: "s", dir: "auto" }, sentenceNodes(sentence, mentions, null, null, (m) => (others.has(keyOf(m)) ? [] : ["only"]))));
  const both = one.one.filter((m) => theirs.has(keyOf(m)));
  const all = [...one.one, ...one.other.filter((m) => !mine.has(keyOf(m)))];
  const settle = (text, mentions, id) => h("button", { type: "button", text, "data-settle": id, onclick: () => take(answer, one.sentence, mentions()) });
  const ticked = (name, some, others) => some.filter((m) => !others.has(keyOf(m))).map((m) => {
    const box = h("input", { type: "checkbox", checked: Boolean(one.final && one.final.some((f) => keyOf(f) === keyOf(m))) });
    return { m, box, row: h("label", { class: "inline", vars: { "--m": label(m.label).color } }, box, h("b", { text: m.label }), h("span", { dir: "auto", text: surface(sentence, m) }), h("small", { text: name })) };
  });
  const boxes = [...ticked(shown.one, one.one, theirs), ...ticked(shown.other, one.other, mine)];
  return h("section", { class: one.final ? "split settled" : "split", "data-sentence": one.sentence, "aria-label": `Sentence ${one.sentence + 1}` },
    h("div", { class: "pair" }, side(shown.one, one.one, theirs), side(shown.other, one.other, mine)),
    one.final ? h("div", {}, h("h3", { text: "Settled" }), h("div", { class: "s", dir: "auto" }, sentenceNodes(sentence, one.final, null, null))) : null,
    h("div", { class: "do" }, settle(`Take ${shown.one}`, () => one.one, "one"), settle(`Take ${shown.other}`, () => one.other, "other"), settle("Take all", () => all, "all"),
      settle("Take what both have and what is ticked", () => [...both, ...boxes.filter(({ box }) => box.checked).map(({ m }) => m)], "both")),
    h("div", { class: "ticks", role: "group", "aria-label": "What only one of the two has" }, boxes.map(({ row }) => row)));
}

const surface = (sentence, m) => m.parts.map(([a, b]) => sentence.words.slice(a - sentence.first, b - sentence.first).map((word, i, all) => word + (i + 1 < all.length ? sentence.gaps[a - sentence.first + i] : "")).join("")).join(" … ");

// Until the answer is drawn nothing may be ticked or pressed: it would be lost with what it was pressed on.
function hold(held) {
  for (const one of $("#pairs").querySelectorAll("button, input")) one.disabled = held;
}

async function take(answer, sentence, mentions) {
  hold(true);
  try {
    await post(`/api/documents/${answer.document}/adjudicate`, { page: state.page, version: answer.version, sentence, mentions: mentions.map(({ label, parts }) => ({ label, parts })) });
    await sideBySide(shown);
  } catch (error) {
    tell("banner", error.message);
  } finally {
    hold(false);
  }
}
