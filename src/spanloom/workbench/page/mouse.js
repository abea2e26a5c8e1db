// The mouse: a drag selects whole tokens; Ctrl (or the command key) adds a part; a click on a mark chooses the mention, a double
// click accepts a suggestion.

import { $ } from "./dom.js";
import * as edit from "./edit.js";
import { selectedParts } from "./text.js";
import { chosen, keyOf, sentenceOf, state, tell, visible, words } from "./state.js";

let drag = null;

const tokenAt = (event) => {
  const hit = document.elementFromPoint(event.clientX, event.clientY);
  const element = hit && hit.closest(".t");
  return element && element.token !== undefined ? element.token : null;
};

function down(event) {
  if (event.button !== 0 || !state.doc) return;
  const { target } = event;
  if (target.classList.contains("tick")) {
    edit.confirm(target.sentence, !state.doc.sheet.confirmed.includes(target.sentence));
    return;
  }
  if (target.mention && !event.ctrlKey && !event.metaKey) {
    const one = visible().find((m) => keyOf(m) === target.mention);
    if (one) edit.choose(one);
    if (one && event.detail === 2) edit.inTurn(edit.accept); // which minds suggestions only
    return;
  }
  const token = tokenAt(event);
  if (token === null) return;
  event.preventDefault(); // the text is selected by tokens
  $("#text").focus({ preventScroll: true });
  const more = event.ctrlKey || event.metaKey;
  drag = { from: token, join: more && chosen() !== null };
  const { sel } = state;
  if (!drag.join) {
    sel.parts = more ? selectedParts() : [];
    sel.mention = null;
    sel.anchor = token;
  }
  sel.cursor = token;
  tell("selection");
}

function over(event) {
  if (!drag) return;
  const token = tokenAt(event);
  if (token === null || token === state.sel.cursor || sentenceOf(token) !== sentenceOf(drag.from)) return;
  state.sel.cursor = token;
  tell("selection");
}

function up() {
  if (!drag) return;
  const { from, join } = drag;
  drag = null;
  const { sel } = state;
  if (join) {
    const [a, b] = [Math.min(from, sel.cursor), Math.max(from, sel.cursor) + 1];
    edit.toggle(edit.range([a, b]));
  } else tell("say", `selected: ${words(selectedParts())}`);
  tell("selection");
}

export function listen() {
  $("#text").addEventListener("mousedown", down);
  document.addEventListener("mousemove", over);
  document.addEventListener("mouseup", up);
}
