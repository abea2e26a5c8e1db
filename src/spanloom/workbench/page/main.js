// The page: boot, views, documents, the pulse that keeps a document held and sees what changed elsewhere.

import { get, post, putJson } from "./api.js";
import * as compare from "./compare.js";
import { $, count, h, put } from "./dom.js";
import * as edit from "./edit.js";
import * as keys from "./keys.js";
import * as learning from "./learning.js";
import * as mouse from "./mouse.js";
import * as project from "./project.js";
import * as queue from "./queue.js";
import * as side from "./side.js";
import { chosen, on, state, tell } from "./state.js";
import { drawText, light, selectedParts } from "./text.js";

const VIEWS = { annotate: begin, compare: compare.draw, learning: learning.draw, project: async () => { await loadProject(); await project.draw(); } };
const say = (text) => { $("#status").textContent = text; };

// The first document of the list, where none is open yet.
async function begin() {
  if (state.doc || !state.annotator) return;
  const [first] = await queue.load();
  if (first && !state.doc) await open(first.id);
  else drawText();
}

let offline = false; // whether the banner says so: it goes when the server has what waits, and stays until then
function banner(text, ...buttons) {
  if (offline) return;
  const place = $("#banner");
  place.hidden = !text;
  if (text) put(place, h("span", { text }), ...buttons, h("button", { type: "button", text: "Close", onclick: () => banner("") }));
}

function showOffline(decide) {
  const answer = (again) => { if (!again) online(); decide(again); };
  put($("#banner"), h("span", { text: "The server does not answer; your last actions are not saved. They are sent again every two seconds." }),
    h("button", { type: "button", text: "Try again", onclick: () => answer(true) }), h("button", { type: "button", text: "Give them up", onclick: () => answer(false) }));
  $("#banner").hidden = false;
  offline = true;
  showSaved();
}

function online() {
  offline = false;
  banner("");
  showSaved();
}

async function loadProject() {
  state.project = await get("/api/project");
  document.title = `${state.project.name} – spanloom workbench`;
  $("#title").textContent = state.project.name;
  learning.show(state.project.learning);
  drawLabels();
}

function drawLabels() {
  const one = chosen();
  put($("#labels"), state.project.labels.map((label) => h("button", { type: "button", class: "label", "data-label": label.name, vars: { "--m": label.color }, title: label.description || null, "aria-pressed": String(Boolean(one && one.label === label.name)), onmousedown: (event) => event.preventDefault(), onclick: () => { edit.give(label.name); $("#text").focus({ preventScroll: true }); } }, label.name, label.key ? h("kbd", { text: label.key }) : null)),
    h("button", { type: "button", class: "label", id: "new-label", text: "+ label", onclick: newLabel }));
}

function newLabel() {
  const dialog = $("#dialog");
  const input = h("input", { id: "label-name", required: true, maxlength: 200, autocomplete: "off", oninput: (event) => event.target.setCustomValidity("") });
  const form = h("form", { class: "lines", onsubmit: async (event) => {
    event.preventDefault();
    if (state.project.labels.some(({ name }) => name === input.value.trim())) {
      input.setCustomValidity("There is such a label already.");
      input.reportValidity();
      return;
    }
    dialog.close();
    try {
      await putJson("/api/labels", { labels: [...state.project.labels.map(({ name, key, color, description, examples }) => ({ name, key, color, description, examples })), { name: input.value.trim() }] });
      await loadProject();
      if (selectedParts().length) edit.give(input.value.trim());
    } catch (error) {
      banner(error.message);
    }
    $("#text").focus();
  } }, h("label", {}, "Name", input), h("div", { class: "tools" }, h("button", { class: "main", text: "Add" }), h("button", { type: "button", text: "Cancel", onclick: () => dialog.close() })));
  put(dialog, h("h2", { id: "dialog-title", text: "New label" }), form);
  dialog.showModal();
}

function askName() {
  return new Promise((done) => {
    const dialog = $("#dialog");
    const input = h("input", { id: "name", required: true, maxlength: 100, value: state.annotator, autocomplete: "off", list: "names" });
    put(dialog, h("h2", { id: "dialog-title", text: "Who annotates?" }), h("p", { class: "dim", text: "Every annotator has an annotation of their own; Compare shows where they differ." }),
      h("form", { class: "lines", onsubmit: (event) => { event.preventDefault(); dialog.close(); done(input.value.trim()); } }, h("label", {}, "Name", input),
        h("datalist", { id: "names" }, state.project.annotators.map((name) => h("option", { value: name }))), h("div", {}, h("button", { class: "main", text: "Begin" }))));
    dialog.oncancel = (event) => { if (state.annotator) done(state.annotator); else event.preventDefault(); };
    dialog.showModal();
  });
}

function showName() {
  $("#who").textContent = state.annotator;
  $("#who").dataset.initial = [...state.annotator][0] || "";
}

async function become(name) {
  state.annotator = name;
  localStorage.setItem("spanloom.annotator", name);
  showName();
}

async function open(id, token = null, take = false) {
  if (edit.unsaved()) say("The document opens when your last actions are saved.");
  await edit.settled();
  try {
    const answer = await post(`/api/documents/${id}/open`, { annotator: state.annotator, page: state.page, take });
    const again = state.doc && state.doc.id === id;
    state.doc = { ...answer, stored: answer.sheet };
    state.mine = answer.mine;
    if (!again || token !== null) Object.assign(state.sel, { cursor: token ?? 0, anchor: null, parts: [], mention: null });
    location.hash = String(id);
    banner("");
    say("");
    view("annotate");
    drawText();
    refresh();
    queue.mark();
    if (!state.mine) locked();
    $("#text").focus({ preventScroll: true });
  } catch (error) {
    banner(error.message);
  }
}

// A document that another page had is taken as soon as that page lets it go.
async function whenFree(doc) {
  const answer = await post(`/api/documents/${doc.id}/open`, { annotator: state.annotator, page: state.page, take: false });
  if (!answer.mine || state.doc !== doc || state.mine) return;
  Object.assign(doc, answer, { stored: answer.sheet });
  state.mine = true;
  banner("");
  say("The other page has let this document go; you can work on it here.");
  drawText();
  refresh();
}

function locked() {
  banner(`${state.annotator} has this document open in another page. You can read it here.`, h("button", { type: "button", id: "take", text: "Work on it here", onclick: () => open(state.doc.id, null, true) }));
}

function steps() {
  const { doc } = state;
  $("#undo").disabled = !doc || !doc.sheet.undo || !state.mine;
  $("#redo").disabled = !doc || !doc.sheet.redo || !state.mine;
}

// Everything that depends on the sheet or the selection, but for the text.
function refresh() {
  const { doc } = state;
  $("#doc-name").textContent = doc ? doc.name : "No document";
  steps();
  for (const id of ["#finish", "#accept-all"]) $(id).disabled = !doc || !state.mine;
  if (doc) $("#doc-state").textContent = `${doc.sheet.confirmed.length} of ${doc.text.sentences.length} confirmed, ${count(doc.sheet.mentions.length, "mention")}${doc.held_out ? ", held out" : ""}${doc.model ? `, model ${doc.model}` : ""}${state.mine ? "" : ", read only"}`;
  const one = chosen();
  for (const button of document.querySelectorAll("#labels [data-label]")) button.setAttribute("aria-pressed", String(Boolean(one && one.label === button.dataset.label)));
  side.draw();
}

async function finish() {
  if (!state.doc || !state.mine) return;
  await edit.confirmAll();
  const next = await queue.next();
  if (next !== null) await open(next);
  else say("That was the last document of this list.");
}

function view(name) {
  for (const one of Object.keys(VIEWS)) $(`#${one}`).hidden = one !== name;
  for (const button of document.querySelectorAll("#views button")) {
    if (button.dataset.view === name) button.setAttribute("aria-current", "page");
    else button.removeAttribute("aria-current");
  }
  VIEWS[name]();
}

// What is not stored is never called saved, whatever the pulse says.
let connected = true;
function showSaved() {
  const lost = offline || !connected;
  $("#saved").textContent = lost ? "no connection" : edit.unsaved() ? "saving…" : "all saved";
  $("#saved").dataset.state = lost || edit.unsaved() ? "" : "saved";
  $("#saved").classList.toggle("bad", lost);
}

const PAUSES = { learning: 100, suggesting: 100, scoring: 500, auditing: 500 }; // milliseconds; new suggestions are awaited
let timer = 0;
async function pulse() {
  clearTimeout(timer);
  try {
    const { doc } = state;
    const answer = await post("/api/pulse", { page: state.page, ...(doc && state.mine ? { document: doc.id, annotator: state.annotator } : {}) });
    learning.show(answer.learning);
    if (doc && state.doc === doc && !state.mine) await whenFree(doc);
    if (doc && state.doc === doc && state.mine && answer.mine === false) {
      state.mine = false;
      drawText();
      refresh();
      locked();
    }
    if (doc && state.doc === doc && answer.model !== undefined && answer.model !== doc.model) await newSuggestions();
    connected = true;
  } catch {
    connected = false;
  }
  showSaved();
  timer = setTimeout(pulse, PAUSES[state.learning && state.learning.phase] || 4000);
}

async function newSuggestions() {
  const { id } = state.doc;
  const answer = await get(`/api/documents/${id}/suggestions`);
  if (!state.doc || state.doc.id !== id) return;
  Object.assign(state.doc, answer);
  drawText();
  refresh();
  say(`New suggestions of model ${answer.model}`);
}

on("say", say);
on("banner", banner);
on("locked", locked);
on("open", open);
on("finish", finish);
on("learn", learning.start);
on("learned", async () => { await loadProject(); await queue.load(); });
on("tab", side.show);
on("sample", project.sample);
on("view", view);
on("download", project.download);
on("pulse", pulse);
on("search", () => $("#search").focus());
on("project", async () => { await loadProject(); await queue.load(); project.draw(); });
on("sheet", () => { drawText(); refresh(); queue.follow(); });
on("steps", steps);
on("selection", () => { light(); refresh(); });
on("saving", showSaved);
on("offline", showOffline);
on("online", online);

async function boot() {
  await loadProject();
  const wanted = new URLSearchParams(location.search).get("annotator");
  if (wanted) await become(wanted);
  if (!state.annotator) await become(await askName());
  showName();
  state.above = state.project.settings.above;
  $("#above").value = state.above;
  keys.listen();
  mouse.listen();
  $("#views").addEventListener("click", (event) => event.target.dataset.view && view(event.target.dataset.view));
  $("#learn").addEventListener("click", () => { learning.start(); if (!$("#annotate").hidden) $("#text").focus({ preventScroll: true }); });
  $("#stop").addEventListener("click", learning.stop);
  $("#undo").addEventListener("click", edit.undo);
  $("#redo").addEventListener("click", edit.redo);
  $("#finish").addEventListener("click", finish);
  $("#accept-all").addEventListener("click", edit.acceptAll);
  $("#above").addEventListener("change", (event) => { state.above = Number(event.target.value); drawText(); refresh(); });
  $("#who").addEventListener("click", async () => { const name = await askName(); if (name !== state.annotator) { await become(name); await loadProject(); await queue.load(); if (state.doc) await open(state.doc.id); } });
  addEventListener("beforeunload", (event) => { if (edit.unsaved()) event.preventDefault(); });
  addEventListener("pagehide", () => navigator.sendBeacon("/api/release", new Blob([JSON.stringify({ page: state.page })])));
  drawText();
  refresh();
  const list = await queue.load();
  const id = Number(location.hash.slice(1));
  if (id) await open(id);
  else if (list.length) await open(list[0].id);
  else view(state.project.documents ? "annotate" : "project");
  document.body.dataset.ready = "1";
  pulse();
}

boot().catch((error) => banner(error.message));
