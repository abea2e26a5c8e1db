// What the page shows. All of it is the server's; the page adds who looks, where the cursor is, and nothing else.

export const state = {
  page: sessionStorage.getItem("spanloom.page") || crypto.randomUUID(),
  annotator: localStorage.getItem("spanloom.annotator") || "",
  project: null,
  doc: null, // the answer of /open; `sheet` is what is drawn, `stored` what the server has acknowledged
  mine: true,
  above: 0.5,
  queue: { by: "order", state: "open", q: "", offset: 0 },
  sel: { cursor: 0, anchor: null, parts: [], mention: null },
};
sessionStorage.setItem("spanloom.page", state.page);

const listeners = new Map();

export function on(what, listener) {
  if (!listeners.has(what)) listeners.set(what, []);
  listeners.get(what).push(listener);
}

export function tell(what, ...news) {
  for (const listener of listeners.get(what) || []) listener(...news);
}

export const keyOf = (mention) => `${mention.label}|${mention.parts.map((p) => p.join("-")).join(",")}`;
export const same = (a, b) => keyOf(a) === keyOf(b);
export const label = (name) => state.project.labels.find((one) => one.name === name) || { name, color: "#888888", key: "" };

// The sentence of a token.
export function sentenceOf(token) {
  const all = state.doc.text.sentences;
  let low = 0, high = all.length - 1;
  while (low < high) {
    const mid = (low + high + 1) >> 1;
    if (all[mid].first <= token) low = mid;
    else high = mid - 1;
  }
  while (low > 0 && all[low].words.length === 0) low -= 1;
  return low;
}

// What is drawn: mentions, then suggestions that are neither accepted nor rejected, in sentences that are not confirmed.
let seen = { sheet: null, suggestions: null, above: null, mentions: [] };
export function visible() {
  const { sheet, suggestions } = state.doc;
  if (seen.sheet === sheet && seen.suggestions === suggestions && seen.above === state.above) return seen.mentions;
  const known = new Set([...sheet.mentions, ...sheet.rejected].map(keyOf));
  const confirmed = new Set(sheet.confirmed);
  const offered = suggestions.filter(
    (m) => (m.prob === undefined || m.prob >= state.above) && !known.has(keyOf(m)) && !confirmed.has(sentenceOf(m.parts[0][0])),
  );
  const mentions = [...sheet.mentions, ...offered.map((m) => ({ ...m, suggested: true }))];
  seen = { sheet, suggestions, above: state.above, mentions };
  return mentions;
}

// The same in reading order, the longer one first: what the keys go through, and the list beside the text.
export const ordered = () => visible().slice().sort((a, b) => a.parts[0][0] - b.parts[0][0] || b.parts[b.parts.length - 1][1] - a.parts[a.parts.length - 1][1] || (a.label < b.label ? -1 : 1));

// The sheet after a change, as the server will have it; `news` is a change with the version that it made.
const order = (a, b) => {
  const [x, y] = [a.parts.flat(), b.parts.flat()];
  for (let i = 0; i < Math.min(x.length, y.length); i += 1) if (x[i] !== y[i]) return x[i] - y[i];
  return x.length - y.length || (a.label < b.label ? -1 : Number(a.label > b.label));
};
export function after(sheet, { change, ...rest }) {
  const { add = [], remove = [], confirm = [], reopen = [], reject = [], restore = [] } = change;
  const without = (all, ...gone) => {
    const keys = new Set(gone.flat().map(keyOf));
    return keys.size ? all.filter((m) => !keys.has(keyOf(m))) : all;
  };
  const closed = new Set(reopen);
  return {
    ...sheet,
    mentions: add.length || remove.length ? [...without(sheet.mentions, remove, add), ...add].sort(order) : sheet.mentions,
    rejected: [...without(sheet.rejected, restore, add, reject), ...reject],
    confirmed: [...new Set([...sheet.confirmed.filter((k) => !closed.has(k)), ...confirm])].sort((a, b) => a - b),
    ...rest,
  };
}

export function chosen() {
  const key = state.sel.mention;
  return key === null || !state.doc ? null : visible().find((m) => keyOf(m) === key) || null;
}

export function words(parts) {
  const text = [];
  for (const [start, end] of parts) {
    const sentence = state.doc.text.sentences[sentenceOf(start)];
    let piece = "";
    for (let t = start; t < end; t += 1) {
      const i = t - sentence.first;
      piece += sentence.words[i] + (t + 1 < end ? sentence.gaps[i] : "");
    }
    text.push(piece);
  }
  return text.join(" … ");
}
