// The project: import, export, labels and guideline, settings, counts, the trail.

import { get, post, putJson } from "./api.js";
import { $, count, h, put } from "./dom.js";
import { state, tell } from "./state.js";

const option = (value, text = value) => h("option", { value, text });

async function attempt(work) {
  try {
    tell("banner", (await work()) || "");
    await tell("project");
  } catch (error) {
    tell("banner", error.message);
  }
}

export async function draw() {
  put($("#project"), h("div", { class: "cards" }, importing(), exporting(), settings(), labels(), guideline(), await statistics(), await trail()));
}

function importing() {
  const file = h("input", { type: "file", id: "import-file", multiple: true, required: true });
  const format = h("select", { id: "import-format" }, option("", "by its ending"), state.project.imports.map((name) => option(name)));
  const mentions = h("select", {}, option("auto", "gold, where there are any"), option("suggestions", "suggestions to check"), option("none", "not wanted"));
  const options = h("input", { id: "import-options", placeholder: "none; e.g. encoding=cp1252&align=expand", autocomplete: "off" });
  const held = h("input", { type: "checkbox" });
  const send = (event) => {
    event.preventDefault();
    attempt(async () => {
      let [added, known] = [0, 0];
      const told = () => `${count(added, "document")} added${known ? `, ${known.toLocaleString("en")} left out: the project has the same already` : ""}.`;
      for (const one of file.files) if (one.name.toLowerCase().endsWith(".ann")) throw new Error(`${one.name}: brat's .ann files come with their .txt files in a .zip; nothing was added.`);
      for (const one of file.files) {
        const query = new URLSearchParams({ name: one.name, format: format.value, options: options.value, mentions: mentions.value, held_out: held.checked ? "1" : "0" });
        try {
          const answer = await post(`/api/import?${query}`, one);
          added += answer.added;
          known += answer.known;
        } catch (error) {
          await tell("project");
          throw new Error(`${error.message}${file.files.length > 1 ? ` This file was not added, nor those after it; before it: ${told()}` : ""}`);
        }
      }
      return told();
    });
  };
  return h("section", { class: "card" }, h("h2", { text: "Import" }), h("form", { class: "lines", onsubmit: send },
    h("label", {}, "Files (a .zip for brat)", file), h("label", {}, "Format", format), h("label", {}, "Options of the format", options), h("label", {}, "Their mentions are", mentions),
    h("label", { class: "inline" }, held, "hold out for scores: no suggestions, no learning"),
    h("div", { class: "tools" }, h("button", { class: "main", id: "import", text: "Import" }),
      h("button", { type: "button", id: "sample", text: "Try the sample corpus", onclick: sample }))));
}

export const sample = () => attempt(async () => {
  const gold = await post("/api/import?sample=train");
  const text = await post("/api/import?sample=dev&mentions=none");
  if (!gold.added && !text.added) return "The sample corpus is in the project already.";
  return `${count(gold.added, "annotated document")} and ${count(text.added, "document")} without annotation added. They are under Annotate.`;
});

// Fetch a file and let the browser keep it, so that errors are shown in the page.
export async function download(path) {
  try {
    tell("banner", "");
    tell("say", "The file is being made…");
    const answer = await fetch(path);
    tell("say", "");
    if (!answer.ok) throw new Error((await answer.json()).error);
    const name = decodeURIComponent((answer.headers.get("content-disposition") || "").split("''")[1] || "export");
    const link = h("a", { href: URL.createObjectURL(await answer.blob()), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  } catch (error) {
    tell("banner", error.message);
  }
}

function exporting() {
  const format = h("select", { id: "export-format" }, state.project.exports.map((name) => option(name)));
  const layer = h("select", { id: "export-layer" }, option("gold", "what counts: adjudicated, agreed"), state.project.layers.map((name) => option(name)));
  const options = h("input", { id: "export-options", placeholder: "none; e.g. layers=3", autocomplete: "off" });
  const go = (event) => {
    event.preventDefault();
    download(`/api/export?${new URLSearchParams({ format: format.value, layer: layer.value, options: options.value })}`);
  };
  return h("section", { class: "card" }, h("h2", { text: "Export" }), h("form", { class: "lines", onsubmit: go },
    h("label", {}, "Format", format), h("label", {}, "Options of the format", options), h("label", {}, "Annotation of", layer), h("div", {}, h("button", { class: "main", id: "export", text: "Export" }))));
}

function settings() {
  const given = state.project.settings;
  const field = (name, text, properties) => h("label", {}, text, h("input", { name, value: given[name], ...properties }));
  const save = (event) => {
    event.preventDefault();
    const form = new FormData(event.target);
    const values = { model: form.get("model"), features: form.get("features"), every: Number(form.get("every")), above: Number(form.get("above")), held_out: Number(form.get("held_out")) };
    attempt(async () => { await putJson("/api/settings", values); return "Settings are kept."; });
  };
  return h("section", { class: "card" }, h("h2", { text: "Settings" }), h("form", { class: "lines", onsubmit: save },
    field("model", "Model (auto: by what is annotated)"), field("features", "Features"),
    field("every", "Learn after so many documents (0: on the button)", { type: "number", min: 0 }),
    field("above", "Show suggestions from this probability on", { type: "number", min: 0, max: 1, step: 0.05 }),
    field("held_out", "Hold out one document in so many at import (0: none)", { type: "number", min: 0 }),
    h("div", {}, h("button", { class: "main", text: "Save" }))));
}

function labels() {
  const rows = state.project.labels.map((one) => labelRow(one));
  const list = h("tbody", {}, rows);
  const save = (event) => {
    event.preventDefault();
    const made = [...list.children].map((row) => Object.fromEntries([...row.querySelectorAll("[name]")].map((input) => [input.name, input.name === "examples" ? input.value.split(";").map((x) => x.trim()).filter(Boolean) : input.value]))).filter((one) => one.name.trim());
    attempt(async () => { await putJson("/api/labels", { labels: made }); return "Labels are kept."; });
  };
  return h("section", { class: "card wide" }, h("h2", { text: "Labels" }), h("form", { onsubmit: save },
    h("table", {}, h("thead", {}, h("tr", {}, ["label", "key", "colour", "description", "examples (; between)", "mentions"].map((text) => h("th", { scope: "col", text })))), list),
    h("div", { class: "tools" }, h("button", { type: "button", id: "add-label", text: "Add a label", onclick: () => { const row = labelRow({ name: "", key: "", color: "#888888", description: "", examples: [], count: 0 }); list.append(row); row.querySelector("input").focus(); } }), h("button", { class: "main", id: "save-labels", text: "Save labels" }))));
}

function labelRow(one) {
  const input = (name, value, properties) => h("td", {}, h("input", { name, value, "aria-label": `${name} of ${one.name || "the new label"}`, ...properties }));
  return h("tr", {}, input("name", one.name, one.count ? { readonly: true, title: "It has mentions; give them another label, and this one goes" } : {}), input("key", one.key, { size: 2, maxlength: 1 }), input("color", one.color, { type: one.name ? "color" : "hidden" }), input("description", one.description, { size: 36 }), input("examples", one.examples.join("; "), { size: 30 }), h("td", { class: "n", text: String(one.count) }));
}

function guideline() {
  const text = h("textarea", { "aria-label": "Guideline", value: state.project.guideline });
  return h("section", { class: "card wide" }, h("h2", { text: "Guideline" }), h("form", { class: "lines", onsubmit: (event) => { event.preventDefault(); attempt(async () => { await putJson("/api/guideline", { guideline: text.value }); return "The guideline is kept."; }); } }, text, h("div", {}, h("button", { class: "main", text: "Save guideline" }))));
}

async function statistics() {
  const found = await get("/api/statistics");
  const table = (heads, rows) => h("table", {}, h("thead", {}, h("tr", {}, heads.map((text) => h("th", { scope: "col", text })))), h("tbody", {}, rows.map((row) => h("tr", {}, row.map((x) => h("td", { class: typeof x === "number" ? "n" : null, text: String(x) }))))));
  return h("section", { class: "card wide" }, h("h2", { text: "What is annotated" }),
    h("div", { class: "figures" }, [["mentions", found.mentions], ["sentences", found.sentences], ["known completely", found.complete], ["documents", found.documents]].map(([text, n]) => h("div", {}, h("b", { text: n.toLocaleString("en") }), h("span", { text })))),
    found.labels.length ? table(["label", "mentions", "different", "most frequent"], found.labels.map((one) => [one.label, one.mentions, one.different, one.top.map(([text, n]) => `${text} (${n})`).join(", ")])) : null,
    Object.keys(found.kinds).length ? h("p", { class: "dim", text: Object.entries(found.kinds).map(([kind, n]) => `${kind}: ${n}`).join(", ") }) : null,
    found.annotators.length ? table(["annotator", "changes", "documents"], found.annotators.map((one) => [one.name, one.actions, one.documents])) : null,
    h("p", {}, h("button", { type: "button", text: "Report of the model on held-out documents", onclick: () => download("/api/report") })));
}

async function trail() {
  const { trail: rows } = await get("/api/trail", { limit: 50 });
  const said = (change) => Object.entries(change).map(([what, some]) => `${what}: ${some.map((m) => (typeof m === "number" ? `sentence ${m + 1}` : `${m.label} ${m.parts.map((p) => p.join("–")).join(", ")}`)).slice(0, 4).join("; ")}${some.length > 4 ? ` and ${some.length - 4} more` : ""}`).join(", ");
  return h("section", { class: "card wide" }, h("h2", { text: "Last changes" }), rows.length ? h("table", {}, h("thead", {}, h("tr", {}, ["time (UTC)", "who", "document", "action", "change"].map((text) => h("th", { scope: "col", text })))),
    h("tbody", {}, rows.map((one) => h("tr", {}, [one.at.slice(0, 19).replace("T", " "), one.annotator, one.document_name, one.state === "undone" ? `${one.kind} (undone)` : one.kind, said(one.change)].map((text) => h("td", { text })))))) : h("p", { class: "dim", text: "Nothing was changed yet." }));
}
