// Beside the text: the mentions of the sentence, the guideline, why a mention is believed, where else its text occurs.

import { get } from "./api.js";
import { $, h, put } from "./dom.js";
import * as edit from "./edit.js";
import { chosen, keyOf, label, ordered, sentenceOf, state, tell, words } from "./state.js";
import { selectedParts } from "./text.js";

const TABS = [["mentions", "Mentions"], ["guideline", "Guideline"], ["why", "Why"], ["elsewhere", "Elsewhere"]];
let tab = "mentions";
let asked = "";

export function show(name) {
  tab = name;
  asked = "";
  draw();
}

export function draw() {
  const place = $("#side");
  let body = $("#side-body");
  if (!body) {
    body = h("div", { id: "side-body", role: "tabpanel", tabindex: "0" });
    put(place, h("div", { class: "tabs", role: "tablist", "aria-label": "Details" }, TABS.map(([name, text]) => h("button", { type: "button", role: "tab", id: `tab-${name}`, "aria-controls": "side-body", "data-tab": name, text, onclick: () => show(name) }))), body);
  }
  for (const [name] of TABS) $(`#tab-${name}`).setAttribute("aria-selected", String(name === tab));
  body.setAttribute("aria-labelledby", `tab-${tab}`);
  ({ mentions, guideline, why, elsewhere })[tab](body);
}

function mentions(body) {
  if (!state.doc || !state.doc.text.tokens) return put(body, h("p", { class: "dim", text: "No document is open." }));
  const k = sentenceOf(state.sel.cursor);
  const here = ordered().filter((m) => sentenceOf(m.parts[0][0]) === k);
  const one = chosen();
  put(body, h("h3", { text: `Sentence ${k + 1} of ${state.doc.text.sentences.length}` }),
    here.length ? h("ul", { class: "list" }, here.map((m) => item(m, one))) : h("p", { class: "dim", text: "No mentions here. Select words and press the key of a label." }),
    hint(here, one));
}

// The keys that are of use now.
function hint(here, one) {
  const offered = here.some((m) => m.suggested);
  const keys = one ? [...(one.suggested ? [["a", "accept"]] : []), ["x", one.suggested ? "reject" : "delete"], ["[ ]", "grow"], ["{ }", "shrink"], ["w", "why?"]]
    : [["n", here.length ? "choose the next mention" : "to the next mention"], ...(offered ? [["A", "accept all that are shown"]] : []), ["Enter", "this sentence is right"]];
  return h("div", { class: "hint" }, keys.map(([key, what]) => [h("kbd", { text: key }), h("span", { text: what })]));
}

function item(m, one) {
  const on = one !== null && keyOf(one) === keyOf(m);
  const name = `${m.suggested ? "Suggested " : ""}${m.label}: ${words(m.parts)}`;
  const button = (text, what, act) => h("button", { type: "button", text, "aria-label": `${what} ${name}`, onclick: () => { edit.choose(m); act(); } });
  return h("li", { class: [m.suggested ? "sug" : "", on ? "on" : ""].join(" ").trim() || null, vars: { "--m": label(m.label).color } },
    h("button", { type: "button", class: "link", "aria-label": `Choose ${name}`, onclick: () => edit.choose(m) }, h("span", { class: "label-name", text: m.label }), m.prob === undefined ? "" : h("span", { class: "prob", text: ` ${m.prob.toFixed(3)}` })),
    h("small", { dir: "auto", text: words(m.parts) }),
    on && state.mine ? h("div", { class: "do" }, m.suggested ? button("Accept", "Accept", edit.accept) : null,
      button(m.suggested ? "Reject" : "Delete", m.suggested ? "Reject" : "Delete", edit.drop),
      button("Why", "Why", () => show("why")), button("Elsewhere", "Elsewhere", () => show("elsewhere"))) : null);
}

function guideline(body) {
  put(body, state.project.guideline ? state.project.guideline.split(/\n{2,}/).map((text) => h("p", { dir: "auto", text })) : h("p", { class: "dim", text: "No guideline is written yet; see Project." }),
    h("ul", { class: "list" }, state.project.labels.map((one) => h("li", { vars: { "--m": one.color } },
      h("span", { class: "label-name", text: one.name }), " ", one.key ? h("kbd", { text: one.key }) : null, h("small", { text: one.description }),
      one.examples.length ? h("small", { text: `e.g. ${one.examples.join("; ")}` }) : null))));
}

// What is asked about: the chosen mention, or the selected words.
function subject() {
  const one = chosen();
  if (one) return one;
  const parts = state.doc ? selectedParts() : [];
  return parts.length ? { label: "", parts } : null;
}

async function why(body) {
  const one = chosen();
  if (!one) return put(body, h("p", { class: "dim", text: "Choose a mention to see which features speak for it and against it." }));
  const key = `why ${state.doc.id} ${keyOf(one)} ${state.doc.model}`;
  if (asked === key) return;
  asked = key;
  put(body, h("p", { class: "dim", text: "…" }));
  try {
    const answer = await get(`/api/documents/${state.doc.id}/why`, { label: one.label, parts: JSON.stringify(one.parts) });
    if (asked !== key) return;
    const bars = (rows) => {
      const most = Math.max(...rows.map(([, c]) => Math.abs(c)), 1e-9);
      return h("div", { class: "bars" }, rows.map(([name, c]) => [h("span", { dir: "auto" }, name), h("i", { class: c < 0 ? "neg" : null, vars: { "--share": Math.abs(c) / most } }), h("span", { text: c.toFixed(2) })]));
    };
    const others = answer.score_difference - answer.features.reduce((sum, one) => sum + one.contribution, 0);
    put(body, h("h3", {}, `${one.label}: `, h("span", { dir: "auto", text: words(one.parts) })),
      h("p", {}, `${answer.belief === "exact" ? `Probability ${answer.prob.toFixed(4)}, score` : "Score"} difference ${answer.score_difference.toFixed(2)} to the best answer without it.`),
      answer.rival.length ? h("p", { class: "dim", text: `Instead there would be: ${answer.rival.map((m) => `${m.label} “${m.text}”`).join(", ")}` }) : null,
      h("h3", { text: "By place" }), bars(answer.places.map((one) => [one.words, one.contribution])),
      h("h3", { text: "By feature" }), bars(answer.features.map((one) => [[one.feature, h("small", { class: "dim", text: ` ${one.where}` })], one.contribution])),
      h("p", { class: "dim", text: `All other features together: ${others.toFixed(2)}. ${answer.note}` }));
  } catch (error) {
    put(body, h("p", { class: "warn", text: error.message }));
  }
}

async function elsewhere(body) {
  const one = subject();
  if (!one) return put(body, h("p", { class: "dim", text: "Choose a mention or select words to see where else they occur and how they are labelled." }));
  const text = words(one.parts);
  const key = `elsewhere ${text}`;
  if (asked === key) return;
  asked = key;
  put(body, h("p", { class: "dim", text: "…" }));
  try {
    const answer = await get("/api/occurrences", { document: state.doc.id, parts: JSON.stringify(one.parts) });
    if (asked !== key) return;
    put(body, h("h3", { dir: "auto", text }), h("p", { class: "dim", text: `${answer.total} times. ${Object.entries(answer.labels).map(([name, n]) => `${name}: ${n}`).join(", ")}` }),
      h("ul", { class: "list" }, answer.places.map((p) => h("li", { vars: { "--m": p.labels.length ? label(p.labels[0]).color : "var(--line)" } },
        h("button", { type: "button", class: "link", onclick: () => tell("open", p.document, p.start), text: p.name }), " ", p.labels.join(", ") || "—", h("small", { dir: "auto", text: p.context })))));
  } catch (error) {
    put(body, h("p", { class: "warn", text: error.message }));
  }
}
