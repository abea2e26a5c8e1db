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

// A mention's lane: above every mention that it would collide with, inner ones first. Measured in characters, so that
// labels longer than their mention have room.
const lanes = (sentence, mentions) => {
  const at = [0];
  sentence.tokens.forEach((token, t) => at.push(at[t] + token.length + 1));
  const placed = [];
  const size = ([, parts]) => parts.reduce((n, [s, e]) => n + e - s, 0);
  for (const mention of [...mentions].sort((a, b) => size(a) - size(b))) {
    const [label, parts] = mention;
    const start = at[parts[0][0]];
    const end = Math.max(at[parts[parts.length - 1][1]], start + 0.8 * label.length + 3);
    const lane = 1 + Math.max(-1, ...placed.filter((p) => p.start < end && start < p.end).map((p) => p.lane));
    placed.push({ mention, start, end, lane });
  }
  return placed;
};

const side = (sentence, placed, t, up, sign) => {
  const count = 1 + Math.max(-1, ...placed.map((p) => p.lane));
  const cells = Array.from({ length: count }, () => make("div", { className: "lane" }));
  for (const { mention: [label, parts, right, prob], lane } of placed) {
    const first = parts[0][0];
    const last = parts[parts.length - 1][1];
    if (t < first || t >= last) continue;
    const part = parts.find(([s, e]) => s <= t && t < e);
    const cell = cells[lane];
    cell.classList.add(right ? "good" : up ? "miss" : "extra", part ? "on" : "gap");
    cell.style.setProperty("--space", sentence.space[t]);
    if (part && t === part[0]) cell.classList.add("start");
    if (part && t === part[1] - 1) cell.classList.add("end");
    if (t === first) {
      const text = `${right ? "✓" : sign} ${label}${prob === null ? "" : ` ${prob.toFixed(2)}`}`;
      cell.append(make("b", {}, text));
    }
  }
  return make("div", { className: up ? "up" : "down" }, ...(up ? cells.reverse() : cells));
};

const draw = (sentence) => {
  const gold = lanes(sentence, sentence.gold);
  const predicted = lanes(sentence, sentence.predicted);
  return sentence.tokens.map((token, t) =>
    make(
      "span",
      { className: "w" },
      side(sentence, gold, t, true, "✗"),
      make("span", {}, token + (sentence.space[t] ? " " : "")),
      side(sentence, predicted, t, false, "+"),
    ),
  );
};

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
    const drawn = make("div", {}, ...draw(data.sentences[mistake.sentence]));
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
