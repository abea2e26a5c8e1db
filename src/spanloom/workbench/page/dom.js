// Elements without markup: text is always text, whatever a document or a label is called.

export const $ = (selector, root = document) => root.querySelector(selector);

const NS = "http://www.w3.org/2000/svg";

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "vars") for (const [v, x] of Object.entries(value)) element.style.setProperty(v, x);
    else if (name === "text") element.textContent = value;
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(9).filter((one) => one !== null && one !== undefined && one !== false));
  return element;
}

export const h = (tag, properties, ...children) => fill(document.createElement(tag), properties, children);
export const svg = (tag, properties, ...children) => fill(document.createElementNS(NS, tag), properties, children);

export function put(parent, ...children) {
  parent.replaceChildren(...children.flat(9).filter(Boolean));
}

export const percent = (x) => `${(100 * x).toFixed(1)} %`;
export const count = (n, what) => `${n.toLocaleString("en")} ${what}${n === 1 ? "" : "s"}`;
