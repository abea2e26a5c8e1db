// The list of documents, in the order of the queue.

import { get, post } from "./api.js";
import { $, count, h, put } from "./dom.js";
import { state, tell } from "./state.js";

const ORDERS = [["order", "as imported"], ["uncertainty", "least sure first"], ["models", "last two models differ"], ["annotators", "annotators differ"], ["random", "at random"], ["audit", "likely errors first"]];
const STATES = [["open", "to do"], ["done", "done"], ["all", "all"]];
const SIZE = 60;
let shown = [];

export async function load() {
  if (!state.annotator) return [];
  if (state.queue.by === "audit") return loadSuspects();
  const answer = await get("/api/documents", { annotator: state.annotator, by: state.queue.by, state: state.queue.state, q: state.queue.q, offset: state.queue.offset, limit: SIZE });
  shown = answer.documents;
  state.counts = answer.counts;
  draw(answer);
  return shown;
}

async function loadSuspects() {
  const { suspects } = await get("/api/suspects");
  const said = { missing: "missing", label: "other label", border: "other borders", extra: "not a mention" };
  const told = (m) => (m ? `${m.label} “${m.text}”` : "nothing");
  const gone = async (one) => { await fetch(`/api/suspects/${one.id}`, { method: "DELETE" }); load(); };
  put($("#queue"), filters(),
    h("p", {}, h("button", { type: "button", id: "audit", text: "Look for errors now", onclick: async () => { try { await post("/api/audit"); tell("pulse"); } catch (error) { tell("banner", error.message); } } })),
    suspects.length ? suspects.map((one) => h("div", { class: "row" },
      h("button", { type: "button", class: "link", text: `${said[one.kind]} (${one.suspicion.toFixed(2)})`, onclick: () => tell("open", one.document, (one.gold || one.instead).parts[0][0]) }),
      h("span", { dir: "auto", text: `${one.name}: ${told(one.gold)}` }), h("span", { dir: "auto", text: `model: ${told(one.instead)}` }),
      h("button", { type: "button", class: "link", text: "seen", "aria-label": `Seen: ${said[one.kind]} ${told(one.gold || one.instead)}`, onclick: () => gone(one) })))
      : h("p", { class: "dim", text: "Models that have not seen a confirmed sentence judge its annotation. It takes about five trainings." }));
  return [];
}

function select(name, options, label) {
  const element = h("select", { onchange: (event) => { state.queue[name] = event.target.value; state.queue.offset = 0; load(); } }, options.map(([value, text]) => h("option", { value, text })));
  element.value = state.queue[name];
  return h("label", {}, label, element);
}

function draw(answer) {
  const place = $("#queue");
  const focus = document.activeElement && document.activeElement.id === "search";
  const rows = shown.map((one) => row(one));
  const { offset } = state.queue;
  put(place, filters(),
    h("p", { class: "tally", text: `${answer.counts.done.toLocaleString("en")} of ${count(answer.counts.all, "document")} done` }),
    rows.length ? rows : h("p", { class: "dim", text: state.queue.q ? "Nothing was found." : answer.counts.all ? "Nothing is left here. Show: all has the documents that are done." : "There are no documents yet." }),
    answer.total > SIZE && h("div", { class: "tools" },
      h("button", { type: "button", text: "Earlier", disabled: offset === 0, onclick: () => page(-SIZE) }),
      h("button", { type: "button", text: "Later", disabled: offset + SIZE >= answer.total, onclick: () => page(SIZE) })));
  if (focus) $("#search").focus();
}

function filters() {
  const search = h("input", { type: "search", id: "search", value: state.queue.q, placeholder: "words in the text", oninput: (event) => find(event.target.value) });
  return h("div", { class: "filters" }, select("by", ORDERS, "Order"), select("state", STATES, "Show"), h("label", { class: "whole" }, "Search", search));
}

// What is typed is looked for when the typing pauses.
let typing = 0;
function find(text) {
  clearTimeout(typing);
  typing = setTimeout(() => { Object.assign(state.queue, { q: text, offset: 0 }); load(); }, 250);
}

function page(step) {
  state.queue.offset = Math.max(0, state.queue.offset + step);
  load();
}

function row(one) {
  const others = one.busy.filter((name) => name !== state.annotator);
  return h("button", { type: "button", class: "row", "data-document": one.id, "aria-current": String(Boolean(state.doc && state.doc.id === one.id)), onclick: () => tell("open", one.id) },
    h("b", { dir: "auto", text: one.name }), one.done && one.sentences ? h("mark", { class: "done", text: " ✓" }) : null, one.held_out ? h("mark", { text: " held out" }) : null,
    others.length ? h("mark", { text: ` open: ${others.join(", ")}` }) : null,
    h("span", { dir: "auto", text: one.start }),
    h("span", { class: "told", text: counted(one.confirmed, one.sentences, one.mentions) }),
    h("i", { class: "bar" }, h("i", { vars: { "--share": one.sentences ? one.confirmed / one.sentences : 0 } })));
}

const counted = (confirmed, sentences, mentions) => `${confirmed} of ${count(sentences, "sentence")}, ${count(mentions, "mention")}`;

// The row of the open document follows what is done in it.
export function follow() {
  const { doc } = state;
  const element = doc && $(`#queue .row[data-document="${doc.id}"]`);
  if (!element) return;
  const [done, all] = [doc.sheet.confirmed.length, doc.text.sentences.length];
  $(".told", element).textContent = counted(done, all, doc.sheet.mentions.length);
  $(".bar i", element).style.setProperty("--share", all ? done / all : 0);
}

export function mark() {
  for (const element of document.querySelectorAll("#queue .row")) element.setAttribute("aria-current", String(Boolean(state.doc) && Number(element.dataset.document) === state.doc.id));
}

// The document after this one in the queue.
export async function next() {
  const before = shown.map((one) => one.id);
  const at = state.doc ? before.indexOf(state.doc.id) : -1;
  await load();
  const now = shown.map((one) => one.id);
  const after = before.slice(at + 1).find((id) => now.includes(id));
  return after ?? now.find((id) => !state.doc || id !== state.doc.id) ?? null;
}
