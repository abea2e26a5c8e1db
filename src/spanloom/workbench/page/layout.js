// Which lane each mention takes below the text: inner ones nearer to it, none over another.
// The same rule as drawing/brackets.py of spanloom: short before long; below whatever was placed before and overlaps.

const WIDE = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const SHARE = 0.75; // of a cell of the text that a character of a caption takes

export function cells(text) {
  let n = 0;
  for (const c of text) n += WIDE.test(c) ? 2 : 1;
  return n;
}

const meet = (a, b) => a[0] < b[1] && b[0] < a[1];

export function lanes(sentence, mentions, caption) {
  const starts = [], ends = [];
  let at = 0;
  sentence.words.forEach((word, i) => {
    starts.push(at);
    at += cells(word);
    ends.push(at);
    at += cells(sentence.gaps[i] || "");
  });
  const marks = mentions.map((m, i) => {
    const low = starts[m.parts[0][0] - sentence.first];
    const high = ends[m.parts[m.parts.length - 1][1] - 1 - sentence.first];
    return { i, m, lines: [low, high], taken: [low, Math.max(high, low + Math.ceil(SHARE * cells(caption(m))) + 1)] };
  });
  marks.sort((a, b) => a.lines[1] - a.lines[0] - (b.lines[1] - b.lines[0]) || a.lines[0] - b.lines[0] || (a.m.label < b.m.label ? -1 : 1));
  const rows = new Array(mentions.length).fill(0);
  marks.forEach((mark, k) => {
    let row = 0;
    const full = new Set();
    for (let j = 0; j < k; j += 1) {
      if (meet(marks[j].lines, mark.lines)) row = Math.max(row, rows[marks[j].i] + 1);
      if (meet(marks[j].taken, mark.taken)) full.add(rows[marks[j].i]);
    }
    while (full.has(row)) row += 1;
    rows[mark.i] = row;
  });
  return rows;
}
