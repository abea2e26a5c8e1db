"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const make = (tag, attributes = {}, ...children) => {
  const node = Object.assign(document.createElement(tag), attributes);
  node.append(...children);
  return node;
};

// Light or dark: as the system says, until the button is pressed.
const root = document.documentElement;
root.dataset.theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
document.getElementById("theme").onclick = () => {
  root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
};

const order = (a, b) => {
  const [x, y] = [a, b].map((v) => (v === "—" || v === "" || v === null ? NaN : Number(String(v).replaceAll(",", ""))));
  if (!isNaN(x) && !isNaN(y)) return x - y;
  return String(a ?? "").localeCompare(String(b ?? ""), undefined, { numeric: true });
};
const turn = (heads, head) => {
  const way = head.dataset.sort === "1" ? -1 : 1;
  heads.forEach((h) => delete h.dataset.sort);
  head.dataset.sort = way;
  return way;
};

for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, k) => {
    head.onclick = () => {
      const way = turn(heads, head);
      const rows = [...table.tBodies[0].rows];
      rows.sort((a, b) => way * order(a.cells[k].textContent, b.cells[k].textContent));
      table.tBodies[0].append(...rows);
    };
  });
}

const columns = [
  ["kind", "mistake"], ["where", "where"], ["gold", "gold"], ["goldText", "gold text"],
  ["predicted", "predicted"], ["predictedText", "predicted text"], ["boundaries", "boundaries"],
];
if (data.mistakes.some((m) => m.prob !== null)) columns.push(["prob", "probability"]);
const list = document.getElementById("list");
const kind = document.getElementById("kind");
const search = document.getElementById("search");
const more = document.getElementById("more");
const step = 50;
let shown = step;
let rows = data.mistakes;

for (const name of new Set(data.mistakes.map((m) => m.kind))) {
  const count = data.mistakes.filter((m) => m.kind === name).length;
  kind.append(make("option", { value: name }, `${name} (${count})`));
}

const toggle = (row, mistake) => {
  if (row.classList.toggle("open")) {
    // Drawn and escaped before it came into the page.
    const drawn = make("div", { innerHTML: data.sentences[mistake.sentence] });
    row.after(make("tr", {}, make("td", { className: "drawn", colSpan: columns.length }, drawn)));
  } else row.nextSibling.remove();
};

const render = () => {
  const words = search.value.toLowerCase();
  const chosen = rows.filter((m) =>
    (!kind.value || m.kind === kind.value)
    && (!words || [m.where, m.gold, m.goldText, m.predicted, m.predictedText].join(" ").toLowerCase().includes(words)));
  const body = chosen.slice(0, shown).map((mistake) => {
    const row = make("tr", { className: "row", tabIndex: 0 });
    for (const [key] of columns) {
      const value = mistake[key];
      const group = ["missed", "spurious"].includes(value) ? value : "other";
      const text = typeof value === "number" ? value.toFixed(3) : value ?? "";
      const className = key.endsWith("Text") ? "" : "short";
      row.append(make("td", { className }, key === "kind" ? make("span", { className: `tag ${group}` }, value) : text));
    }
    row.onclick = () => toggle(row, mistake);
    row.onkeydown = (event) => { if (event.key === "Enter") toggle(row, mistake); };
    return row;
  });
  list.tBodies[0].replaceChildren(...body);
  document.getElementById("count").textContent = `${Math.min(shown, chosen.length)} of ${chosen.length}`;
  more.hidden = chosen.length <= shown;
  if (body.length) toggle(body[0], chosen[0]);
};

const heads = columns.map(([key, name]) => {
  const head = make("th", {}, name);
  head.onclick = () => {
    const way = turn(heads, head);
    rows = [...rows].sort((a, b) => way * order(a[key], b[key]));
    render();
  };
  return head;
});
list.tHead.rows[0].append(...heads);
kind.onchange = search.oninput = () => { shown = step; render(); };
more.onclick = () => { shown += step; render(); };
render();
