// What the page shows. All of it is the server's; the page adds who looks, where the cursor is, and nothing else.

export const state = {
  page: sessionStorage.getItem("spanloom.page") || crypto.randomUUID(),
  annotator: localStorage.getItem("spanloom.annotator") || "",
  project: null,
  doc: null, // the answer of /open
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
