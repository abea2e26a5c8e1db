// Changes of the annotation: drawn at once, stored one after the other; what the server refuses is taken back.

import { post, Refused } from "./api.js";
import { asParts, selectedParts } from "./text.js";
import { after, chosen, keyOf, sentenceOf, state, tell, visible, words } from "./state.js";

let last = Promise.resolve();
let waiting = 0; // actions that are not stored yet, and keys that wait for them
let broken = 0; // counts refusals: what was sent after a refused action, and built on it, is given up with it

function pending(step) {
  waiting += step;
  tell("saving", waiting);
}

const plain = (m) => ({ label: m.label, parts: m.parts, ...(m.attributes ? { attributes: m.attributes } : {}) });

// One request after the other; each says which version it saw. `sent` counts those that are not answered yet.
let sent = 0;
const PAUSE = 2000; // milliseconds until an action that did not reach the server is sent again
export const unsaved = () => waiting > 0;
function send(path, body) {
  pending(1);
  sent += 1;
  const { doc } = state;
  const mark = broken;
  last = last.then(async () => {
    if (state.doc !== doc || mark !== broken) return;
    for (let again = false; ; again = true) {
      try {
        const { news } = await post(`/api/documents/${doc.id}/${path}`, { annotator: state.annotator, page: state.page, version: doc.stored.version, brief: true, ...body });
        doc.stored = after(doc.stored, news);
        remember(doc, path, news.change);
        if (sent === 1) acknowledged(doc);
        if (again) tell("online");
        return;
      } catch (error) {
        if (again && error instanceof Refused) tell("online");
        if (again && arrived(doc, path, body, error)) return;
        if (error instanceof Refused) return refused(doc, error);
        const wanted = await new Promise((decide) => { tell("offline", decide); setTimeout(decide, PAUSE, true); });
        if (!wanted) return giveUp(doc);
      }
    }
  }).finally(() => { sent -= 1; pending(-1); });
  return last;
}

// What this page did, so that undo and redo can be drawn before the server has answered; the server's answer counts.
const inverse = (c) => ({ add: c.remove, remove: c.add, confirm: c.reopen, reopen: c.confirm, reject: c.restore, restore: c.reject });
function remember(doc, path, change) {
  if (path === "actions") Object.assign(doc, { made: [...(doc.made || []), change], unmade: [] });
  else if (path === "undo") doc.unmade = [...(doc.unmade || []), (doc.made || []).pop() || inverse(change)];
  else doc.made = [...(doc.made || []), (doc.unmade || []).pop() || change];
}

// Of an action that is sent again: whether the server had it, and only its answer was lost.
function arrived(doc, path, body, error) {
  const { sheet } = error instanceof Refused ? error.details : {};
  const change = path === "actions" ? body.change : path === "undo" ? inverse((doc.made || []).at(-1) || {}) : (doc.unmade || []).at(-1) || {};
  if (!sheet || sign(sheet) !== sign(after(doc.stored, { change }))) return false;
  doc.stored = sheet;
  remember(doc, path, change);
  if (sent === 1) acknowledged(doc);
  return true;
}

function show(doc, sheet) {
  doc.sheet = sheet;
  if (state.doc === doc) tell("sheet");
}

// What was acknowledged is drawn already, unless the server made something else of it.
const sign = ({ mentions, rejected, confirmed }) => `${mentions.map(keyOf).join(" ")}/${rejected.map(keyOf).sort().join(" ")}/${confirmed}`;
function acknowledged(doc) {
  const same = sign(doc.sheet) === sign(doc.stored);
  doc.sheet = doc.stored;
  if (state.doc === doc) tell(same ? "steps" : "sheet");
}

// Back to what the server has.
function giveUp(doc) {
  broken += 1;
  show(doc, doc.stored);
}

function refused(doc, error) {
  if (error.details.sheet) doc.stored = error.details.sheet;
  if (error.status === 423) state.mine = false;
  giveUp(doc);
  if (error.status === 409 && error.details.sheet) tell("banner", "This document was changed elsewhere since you saw it. Your last action was not made; you see the annotation as it is now.");
  else if (error.status === 423) tell("locked");
  else tell("banner", error.message);
}

export const settled = () => last;

// Undo and redo are the server's: what is pressed while it has not answered waits, so that it sees what they made.
let steps = 0;
let turn = Promise.resolve();
export function inTurn(command) {
  if (!steps) return command();
  pending(1);
  steps += 1;
  turn = turn.then(settled).then(command).catch((error) => tell("banner", error.message)).finally(() => { steps -= 1; pending(-1); });
  return turn;
}

function step(way) {
  if (!state.doc || !state.doc.sheet[way]) return undefined;
  steps += 1;
  const { doc } = state;
  const known = sent ? null : way === "undo" ? (doc.made || []).at(-1) : (doc.unmade || []).at(-1);
  if (known) show(doc, after(doc.sheet, { change: way === "undo" ? inverse(known) : known }));
  tell("say", way === "undo" ? "Undone" : "Done again");
  return send(way, {}).finally(() => { steps -= 1; });
}

// An action is drawn at once, and sent; the page says that it is saved when the server has it on the disk.
export function act(kind, change) {
  const { doc } = state;
  show(doc, after(doc.sheet, { change, undo: true, redo: false }));
  return send("actions", { kind, change });
}
export const undo = () => step("undo");
export const redo = () => step("redo");

export function clear() {
  Object.assign(state.sel, { anchor: null, parts: [], mention: null });
}

export function choose(mention) {
  Object.assign(state.sel, { anchor: null, parts: [], mention: keyOf(mention), cursor: mention.parts[0][0] });
  tell("selection");
}

// A label: for the selected tokens a new mention, for the chosen mention another label.
export async function give(name) {
  if (!state.doc || !state.mine) return;
  const one = chosen();
  const parts = selectedParts();
  if (parts.length) {
    if (sentenceOf(parts[0][0]) !== sentenceOf(parts[parts.length - 1][1] - 1)) {
      tell("say", "A mention lies within one sentence.");
      return;
    }
    const made = { label: name, parts };
    clear();
    state.sel.mention = keyOf(made);
    await act("add", { add: [made] });
    tell("say", `${name}: ${words(parts)}`);
  } else if (one) {
    const made = { ...plain(one), label: name };
    state.sel.mention = keyOf(made);
    await act(one.suggested ? "accept" : "relabel", one.suggested ? { add: [made], reject: one.label === name ? [] : [plain(one)] } : { remove: [plain(one)], add: [made] });
    tell("say", `Now ${name}: ${words(made.parts)}`);
  } else if (state.doc.text.tokens) {
    state.sel.anchor = state.sel.cursor;
    await give(name);
  }
}

async function reshape(kind, parts) {
  const one = chosen();
  if (!one || !state.mine || !parts.length) return;
  const made = { ...plain(one), parts };
  if (keyOf(made) === keyOf(one)) return;
  state.sel.mention = keyOf(made);
  await act(kind, one.suggested ? { add: [made], reject: [plain(one)] } : { remove: [plain(one)], add: [made] });
  tell("say", `${one.label}: ${words(parts)}`);
}

export function grow(side) {
  const one = chosen();
  if (!one) return;
  const sentence = state.doc.text.sentences[sentenceOf(one.parts[0][0])];
  const tokens = one.parts.flatMap(range);
  const next = side < 0 ? tokens[0] - 1 : tokens[tokens.length - 1] + 1;
  if (next < sentence.first || next >= sentence.first + sentence.words.length) return;
  reshape("grow", asParts([...tokens, next]));
}

export function shrink(side) {
  const one = chosen();
  if (!one) return;
  const tokens = one.parts.flatMap(range);
  if (tokens.length > 1) reshape("shrink", asParts(side < 0 ? tokens.slice(1) : tokens.slice(0, -1)));
}

// Two mentions out of one: the second begins at the cursor.
export async function split() {
  const one = chosen();
  if (!one || !state.mine) return;
  const tokens = one.parts.flatMap(range);
  const at = state.sel.cursor > tokens[0] ? state.sel.cursor : tokens[1];
  const [left, right] = [tokens.filter((t) => t < at), tokens.filter((t) => t >= at)];
  if (!left.length || !right.length) {
    tell("say", "Put the cursor (Ctrl and arrows) where the second mention begins.");
    return;
  }
  const made = [left, right].map((some) => ({ ...plain(one), parts: asParts(some) }));
  state.sel.mention = keyOf(made[0]);
  await act("split", one.suggested ? { add: made, reject: [plain(one)] } : { remove: [plain(one)], add: made });
  tell("say", `Split: ${words(made[0].parts)} and ${words(made[1].parts)}`);
}

// Tokens join the chosen mention as a part of it, or leave it if it has all of them.
export function toggle(tokens) {
  const one = chosen();
  if (!one || tokens.some((t) => sentenceOf(t) !== sentenceOf(one.parts[0][0]))) return;
  const own = new Set(one.parts.flatMap(range));
  const leave = tokens.every((t) => own.has(t));
  for (const t of tokens) if (leave) own.delete(t); else own.add(t);
  reshape("parts", asParts([...own]));
}

export async function accept() {
  const one = chosen();
  if (!one || !one.suggested || !state.mine) return;
  await act("accept", { add: [plain(one)] });
  tell("say", `Accepted ${one.label}: ${words(one.parts)}`);
}

export async function acceptAll() {
  if (!state.doc || !state.mine) return;
  const some = visible().filter((m) => m.suggested);
  if (some.length) await act("accept-all", { add: some.map(plain) });
  tell("say", `Accepted ${some.length} suggestions`);
}

// Delete the chosen mention, or reject the suggestion; the next one is chosen.
export async function drop() {
  const one = chosen();
  if (!one || !state.mine) return;
  const all = visible();
  const at = all.findIndex((m) => keyOf(m) === keyOf(one));
  state.sel.mention = null;
  await act(one.suggested ? "reject" : "delete", one.suggested ? { reject: [plain(one)] } : { remove: [plain(one)] });
  tell("say", `${one.suggested ? "Rejected" : "Deleted"} ${one.label}: ${words(one.parts)}`);
  return at;
}

export function confirm(k, wanted = true) {
  if (!state.doc || !state.mine) return Promise.resolve();
  const is = state.doc.sheet.confirmed.includes(k);
  if (is === wanted) return Promise.resolve();
  tell("say", `Sentence ${k + 1} ${wanted ? "confirmed" : "open again"}`);
  return act(wanted ? "confirm" : "reopen", wanted ? { confirm: [k] } : { reopen: [k] });
}

export function confirmAll() {
  const open = state.doc.text.sentences.map((_, k) => k).filter((k) => !state.doc.sheet.confirmed.includes(k));
  return open.length ? act("confirm", { confirm: open }) : Promise.resolve();
}

export function range([a, b]) {
  return Array.from({ length: b - a }, (_, i) => a + i);
}
