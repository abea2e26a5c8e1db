// The keyboard. Keys count only while the text has the focus.

import { $, h, put } from "./dom.js";
import * as edit from "./edit.js";
import { direction, light, selectedParts } from "./text.js";
import { chosen, keyOf, ordered, sentenceOf, state, tell, visible, words } from "./state.js";

export const HELP = [
  ["Move and select", [["←  →", "to the next token"], ["↑  ↓", "to the next sentence"], ["Home  End", "to its borders"], ["Shift + ←  →", "select tokens"], ["Space", "keep the selection as a part, and select another"]]],
  ["Annotate", [["1  2  3 …", "the label of the selection, of the chosen mention, or else of the token at the cursor"], ["x", "delete the mention, reject the suggestion"], ["[  ]", "grow at the left or right"], ["{  }", "shrink at the left or right"], ["s", "split before the cursor"], ["Ctrl + ←  →", "move the cursor, keep the mention chosen"], ["j", "the token at the cursor joins the mention, or leaves it"], ["z  y", "undo, redo"]]],
  ["Suggestions", [["n  p", "choose the next or previous mention"], ["a", "accept the suggestion"], ["A", "accept all that are shown"], ["Enter", "confirm the sentence, go to the next"], ["Shift + Enter", "confirm the document, open the next"]]],
  ["Look", [["w", "why is this a mention?"], ["e", "where else is this text?"], ["r", "learn"], ["/", "search"], ["Esc", "choose nothing"]]],
  ["Mouse", [["drag", "select tokens"], ["Ctrl + drag", "add a part; with a mention chosen: to it, or from it"], ["click a line", "choose the mention"], ["double click", "accept the suggestion"]]],
];

function move(step, event) {
  const { sel } = state;
  const to = Math.max(0, Math.min(state.doc.text.tokens - 1, sel.cursor + step));
  if (event.shiftKey) {
    if (sel.anchor === null) sel.anchor = sel.cursor;
    if (sentenceOf(to) === sentenceOf(sel.anchor)) sel.cursor = to;
    sel.mention = null;
  } else {
    sel.cursor = to;
    sel.anchor = null;
    if (!event.ctrlKey && !event.altKey) sel.mention = null;
  }
  read();
}

function jump(token, event) {
  const { sel } = state;
  if (event.shiftKey) {
    if (sel.anchor === null) sel.anchor = sel.cursor;
    if (sentenceOf(token) !== sentenceOf(sel.anchor)) return;
  } else sel.anchor = null;
  sel.mention = null;
  sel.cursor = token;
  read();
}

// Say what is at the cursor.
function read() {
  const parts = selectedParts();
  const at = state.sel.cursor;
  const over = visible().filter((m) => m.parts.some(([a, b]) => a <= at && at < b)).map((m) => m.label + (m.suggested ? " (suggested)" : ""));
  const what = parts.length ? `selected: ${words(parts)}` : words([[at, at + 1]]);
  tell("say", over.length ? `${what}, in ${over.join(", ")}` : what);
  tell("selection");
}

function line(step, event) {
  const { sentences } = state.doc.text;
  const { sel } = state;
  let k = sentenceOf(sel.cursor) + step;
  while (sentences[k] && !sentences[k].words.length) k += step;
  if (sentences[k]) jump(sentences[k].first, { shiftKey: false });
  event.preventDefault();
}

function edge(last, event) {
  const sentence = state.doc.text.sentences[sentenceOf(state.sel.cursor)];
  jump(last ? sentence.first + sentence.words.length - 1 : sentence.first, event);
}

export function nextMention(step) {
  const all = ordered();
  if (!all.length) return;
  const one = chosen();
  let at;
  if (one) at = all.findIndex((m) => keyOf(m) === keyOf(one)) + step;
  else {
    at = all.findIndex((m) => m.parts[0][0] >= state.sel.cursor);
    if (at < 0) at = step > 0 ? 0 : all.length - 1;
    else if (step < 0) at -= 1;
  }
  const next = all[(at + all.length) % all.length];
  edit.choose(next);
  tell("say", `${next.suggested ? "suggested " : ""}${next.label}: ${words(next.parts)}`);
}

async function enter(event) {
  if (event.shiftKey) {
    tell("finish");
    return;
  }
  const k = sentenceOf(state.sel.cursor);
  await edit.confirm(k);
  if (k + 1 < state.doc.text.sentences.length) line(1, event);
}

function keep() {
  const parts = selectedParts();
  const at = [[state.sel.cursor, state.sel.cursor + 1]];
  Object.assign(state.sel, { parts: parts.length ? parts : at, anchor: null, mention: null });
  read();
}

const COMMANDS = {
  n: () => nextMention(1), p: () => nextMention(-1), a: edit.accept, A: edit.acceptAll, x: edit.drop, Delete: edit.drop, Backspace: edit.drop,
  "[": () => edit.grow(-1), "]": () => edit.grow(1), "{": () => edit.shrink(-1), "}": () => edit.shrink(1), s: edit.split,
  j: () => edit.toggle([state.sel.cursor]), z: edit.undo, y: edit.redo, w: () => tell("tab", "why"), e: () => tell("tab", "elsewhere"),
  r: () => tell("learn"), "/": () => tell("search"), "?": showKeys, " ": keep,
  Escape: () => { edit.clear(); tell("selection"); },
};

function pressed(event) {
  if (event.key === "?") return run(event, showKeys);
  if (event.key === "r" && !event.ctrlKey && !event.metaKey) return run(event, COMMANDS.r);
  if (!state.doc || !state.doc.text.tokens) return;
  const rtl = direction(state.sel.cursor) === "rtl" ? -1 : 1;
  switch (event.key) {
    case "ArrowRight": return run(event, () => move(rtl, event));
    case "ArrowLeft": return run(event, () => move(-rtl, event));
    case "ArrowDown": return run(event, () => line(1, event));
    case "ArrowUp": return run(event, () => line(-1, event));
    case "Home": return run(event, () => edge(false, event));
    case "End": return run(event, () => edge(true, event));
    case "Enter": return run(event, () => enter(event));
  }
  if (event.ctrlKey || event.metaKey) {
    const key = event.key.toLowerCase();
    if (key === "z") return run(event, event.shiftKey ? edit.redo : edit.undo);
    if (key === "y") return run(event, edit.redo);
    return;
  }
  if (event.altKey) return;
  const label = state.project.labels.find((one) => one.key === event.key);
  if (label) return run(event, () => edit.give(label.name));
  if (COMMANDS[event.key]) run(event, COMMANDS[event.key]);
  else if (/^[1-9]$/.test(event.key)) tell("say", `No label has the key ${event.key}; “+ label” adds one.`);
}

function run(event, command) {
  event.preventDefault();
  edit.inTurn(command);
}

export function showKeys() {
  const dialog = $("#dialog");
  put(dialog, h("h2", { id: "dialog-title", text: "Keys" }), h("p", { class: "dim", text: "They work while the text has the focus." }),
    h("div", { class: "keys" }, HELP.map(([group, rows]) => h("div", {}, h("h3", { text: group }), rows.map(([keys, what]) => h("div", {}, h("span", {}, keys.split("  ").map((key) => h("kbd", { text: key }))), h("span", { text: what })))))),
    h("form", { method: "dialog" }, h("button", { class: "main", text: "Close" })));
  dialog.showModal();
}

export function listen() {
  $("#text").addEventListener("keydown", pressed);
  $("#text").addEventListener("focus", () => light(false));
  $("#help").addEventListener("click", showKeys);
}
