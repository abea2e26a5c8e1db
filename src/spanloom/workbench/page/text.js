// The text with its mentions. A sentence is drawn anew when what stands in it has changed; the cursor only moves classes.

import { $, h, put } from "./dom.js";
import { lanes } from "./layout.js";
import { chosen, keyOf, label, sentenceOf, state, tell, visible } from "./state.js";

const LONG = 30; // characters of a token that may break
const drawn = { doc: null, sentences: [], tokens: [], marks: new Map(), lit: [] };

export const caption = (m) => (m.suggested && m.prob !== undefined ? `${m.label} ${m.prob.toFixed(2)}` : m.label);

// The inside of a sentence: tokens with marks. `decorate` may add classes to the marks of a mention.
export function sentenceNodes(sentence, mentions, tokens, marks, decorate) {
  const rows = lanes(sentence, mentions, caption);
  const at = new Map();
  mentions.forEach((m, i) => {
    for (let t = m.parts[0][0]; t < m.parts[m.parts.length - 1][1]; t += 1) {
      if (!at.has(t)) at.set(t, []);
      at.get(t).push(i);
    }
  });
  const nodes = [];
  let glued = null; // tokens without white space between them stay on one line
  let length = 0;
  sentence.words.forEach((word, k) => {
    const t = sentence.first + k;
    const here = at.get(t) || [];
    const gap = sentence.gaps[k] || "";
    const inside = !gap.includes("\n") && here.some((i) => t + 1 < mentions[i].parts[mentions[i].parts.length - 1][1]);
    const element = h("span", { class: "t" });
    element.token = t;
    if (here.length) {
      element.append(h("i", { class: "h", vars: { "--n": 1 + Math.max(...here.map((i) => rows[i])) } }));
    }
    // The word alone may not break: Chromium breaks no line after white space that stands in an unbreakable element.
    element.append(word.length > LONG ? word : h("span", { class: "k", text: word }), inside ? gap : "");
    for (const i of here) {
      const m = mentions[i];
      const part = m.parts.find(([a, b]) => a <= t && t < b);
      const kinds = ["m"];
      if (m.suggested) kinds.push("sug");
      if (!part) kinds.push("g");
      else {
        if (t === part[0]) kinds.push("b");
        if (t === part[1] - 1) kinds.push("e", ...(inside && gap ? ["w"] : []));
      }
      if (decorate) kinds.push(...decorate(m));
      const mark = h("i", { class: kinds.join(" "), "data-l": t === m.parts[0][0] ? caption(m) : null, vars: { "--k": rows[i], "--m": label(m.label).color } });
      mark.mention = keyOf(m);
      if (marks) {
        if (!marks.has(mark.mention)) marks.set(mark.mention, []);
        marks.get(mark.mention).push(mark);
      }
      element.append(mark);
    }
    if (tokens) tokens[t] = element;
    length += word.length;
    if (gap === "" && k + 1 < sentence.words.length && length <= LONG) {
      if (!glued) {
        glued = h("span", { class: "glue" });
        nodes.push(glued);
      }
      glued.append(element);
    } else {
      (glued ? glued.append.bind(glued) : nodes.push.bind(nodes))(element);
      if (!inside && gap) nodes.push(gap);
      glued = null;
      length = 0;
    }
  });
  return nodes;
}

function bySentence(mentions) {
  const found = state.doc.text.sentences.map(() => []);
  for (const m of mentions) found[sentenceOf(m.parts[0][0])].push(m);
  return found;
}

export function drawText() {
  const place = $("#text");
  const { doc } = state;
  if (!doc) {
    const some = state.project && state.project.documents;
    put(place, h("div", { class: "empty" }, h("img", { src: "/page/icon.svg", alt: "" }),
      h("h2", { text: some ? "Choose a document" : "Nothing to annotate yet" }),
      h("p", { text: some ? "The list has them in the order that you choose." : "Bring your own texts, or look around with the sample corpus: short texts with nested, crossing and discontinuous mentions." }),
      some ? null : h("div", { class: "tools" }, h("button", { type: "button", class: "main", text: "Import files", onclick: () => tell("view", "project") }), h("button", { type: "button", text: "Try the sample corpus", onclick: () => tell("sample") }))));
    drawn.doc = null;
    return;
  }
  const fresh = drawn.doc !== doc.id;
  if (fresh) {
    Object.assign(drawn, { doc: doc.id, sentences: [], tokens: [], marks: new Map(), lit: [] });
    put(place);
  }
  const confirmed = new Set(doc.sheet.confirmed);
  const colors = JSON.stringify(state.project.labels.map((one) => one.color));
  bySentence(visible()).forEach((mentions, k) => {
    const sentence = doc.text.sentences[k];
    const sign = JSON.stringify([mentions, confirmed.has(k), state.mine, colors]);
    const old = drawn.sentences[k];
    if (old && old.sign === sign) return;
    if (old) for (const key of old.keys) drawn.marks.delete(key);
    const ok = confirmed.has(k);
    const tick = h("button", { type: "button", class: "tick", tabindex: "-1", "aria-pressed": String(ok), "aria-label": `Sentence ${k + 1}: ${ok ? "confirmed" : "not confirmed"}`, title: ok ? "Confirmed; open it again" : "Confirm the sentence (Enter)", text: ok ? "✓" : String(k + 1), disabled: !state.mine });
    tick.sentence = k;
    const apart = k > 0 && sentence.before.replace(/[^\n]/g, "").length > 1; // a paragraph begins
    const element = h("div", { class: `s${ok ? " ok" : ""}${apart ? " apart" : ""}`, dir: "auto", role: "group", "aria-label": `Sentence ${k + 1}` }, sentenceNodes(sentence, mentions, drawn.tokens, drawn.marks), tick);
    if (old) old.element.replaceWith(element);
    else place.append(element);
    drawn.sentences[k] = { sign, element, keys: mentions.map(keyOf) };
  });
  light(fresh);
}

// Show cursor, selection and the chosen mention.
export function light(scroll = true) {
  for (const [element, kind] of drawn.lit) element.classList.remove(kind);
  drawn.lit = [];
  if (!state.doc) return;
  const add = (element, kind) => {
    if (!element) return;
    element.classList.add(kind);
    drawn.lit.push([element, kind]);
  };
  const { sel } = state;
  for (const [a, b] of selectedParts()) for (let t = a; t < b; t += 1) add(drawn.tokens[t], "sel");
  add(drawn.tokens[sel.cursor], "at");
  const one = chosen();
  if (one) {
    for (const mark of drawn.marks.get(keyOf(one)) || []) add(mark, "on");
    for (const [a, b] of one.parts) for (let t = a; t < b; t += 1) add(drawn.tokens[t], "hit");
  }
  const k = state.doc.text.tokens ? sentenceOf(sel.cursor) : -1;
  if (k >= 0) add(drawn.sentences[k].element, "here");
  if (scroll && drawn.tokens[sel.cursor]) drawn.tokens[sel.cursor].scrollIntoView({ block: "nearest" });
}

// The selected tokens as parts: those that were kept, and the one that is being made.
export function selectedParts() {
  const { sel } = state;
  const marked = new Set();
  for (const [a, b] of sel.parts) for (let t = a; t < b; t += 1) marked.add(t);
  if (sel.anchor !== null) {
    const [a, b] = [Math.min(sel.anchor, sel.cursor), Math.max(sel.anchor, sel.cursor) + 1];
    for (let t = a; t < b; t += 1) marked.add(t);
  }
  return asParts([...marked]);
}

export function asParts(tokens) {
  const parts = [];
  for (const t of [...new Set(tokens)].sort((a, b) => a - b)) {
    if (parts.length && parts[parts.length - 1][1] === t) parts[parts.length - 1][1] = t + 1;
    else parts.push([t, t + 1]);
  }
  return parts;
}

export const direction = (token) => (drawn.tokens[token] && drawn.tokens[token].closest(".s").matches(":dir(rtl)") ? "rtl" : "ltr");
