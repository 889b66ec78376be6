// The table of all clusters: those with problems first.

import { clock, element, setMark, setText } from "./text.js";

const rank = { bad: 0, warning: 1, plain: 2, good: 3 };
const body = document.getElementById("rows");
const filter = document.getElementById("filter");
const rows = new Map();  // "namespace/name" -> { data, node }

const keyOf = data => `${data.namespace}/${data.name}`;

function makeNode(data) {
  const link = element("a", { href: `#/${keyOf(data)}` }, data.name);
  const node = element("tr", {},
    element("th", { scope: "row" }, element("span", { class: "namespace" }, `${data.namespace}/`), link),
    element("td"), element("td"), element("td"), element("td"), element("td", { class: "number" }));
  node.addEventListener("click", event => {
    if (!event.target.closest("a") && !String(getSelection())) link.click();
  });
  return node;
}

function fill(node, data) {
  const [, health, ready, version, leader, created] = node.children;
  setText(health, data.health);
  setMark(health, data.mark);
  setText(ready, data.ready || "–");
  setText(version, data.version || "–");
  setText(leader, data.leader || "–");
  if (created.dataset.time !== data.created) {
    created.dataset.time = data.created;
    created.replaceChildren(data.created ? clock(data.created, "age") : "–");
  }
}

function compare(a, b) {
  return rank[a.mark] - rank[b.mark] || keyOf(a).localeCompare(keyOf(b));
}

// Moves only what stands in the wrong place, and the focus with it.
function arrange() {
  const wanted = filter.value.trim().toLowerCase();
  const focused = document.activeElement;
  const sorted = [...rows.values()].sort((a, b) => compare(a.data, b.data));
  sorted.forEach(({ data, node }, index) => {
    node.hidden = !`${keyOf(data)} ${data.health} ${data.version}`.toLowerCase().includes(wanted);
    if (body.children[index] !== node) body.insertBefore(node, body.children[index] ?? null);
  });
  if (focused !== document.activeElement && body.contains(focused)) focused.focus();
  return sorted;
}

function count(number, one, many) {
  return `${number} ${number === 1 ? one : many}`;
}

function summarize(sorted, synced) {
  const problems = sorted.filter(row => row.data.mark === "bad").length;
  const unsettled = sorted.filter(row => row.data.mark === "warning").length;
  const parts = [count(sorted.length, "cluster", "clusters")];
  if (problems) parts.push(count(problems, "with a problem", "with problems"));
  if (unsettled) parts.push(`${unsettled} under way`);
  const shown = sorted.filter(row => !row.node.hidden).length;
  if (shown < sorted.length) parts.push(`${shown} shown`);
  setText(document.getElementById("summary"), synced ? parts.join(", ") : "Reading …");
  const empty = document.getElementById("empty");
  empty.hidden = !synced || shown > 0;
  setText(empty, sorted.length ? "No cluster matches the filter." : "There is no EtcdCluster. quorate create NAME makes one.");
  body.closest("table").hidden = shown === 0;
  document.title = problems ? `${count(problems, "problem", "problems")} · Quorate` : "Quorate";
}

let synced = false;

export function showFleet(message) {
  synced = message.synced;
  // Rows that stay are kept as they are, and with them the focus.
  const gone = message.whole ? new Set(rows.keys()) : new Set(message.gone.map(keyOf));
  for (const data of message.rows) gone.delete(keyOf(data));
  for (const key of gone) {
    rows.get(key)?.node.remove();
    rows.delete(key);
  }
  for (const data of message.rows) {
    const key = keyOf(data);
    if (!rows.has(key)) rows.set(key, { node: makeNode(data) });
    const row = rows.get(key);
    row.data = data;
    fill(row.node, data);
  }
  summarize(arrange(), synced);
}

const links = () => [...body.querySelectorAll("tr:not([hidden]) a")];

// Back from a cluster: where one was.
export function focusRow(key) {
  const link = rows.get(key)?.node.querySelector("a");
  link?.focus();
}

export function isFiltered() {
  return filter.value !== "";
}

export function clearFilter() {
  filter.value = "";
  summarize(arrange(), synced);
}

filter.addEventListener("input", () => summarize(arrange(), synced));
filter.addEventListener("keydown", event => {
  if (event.key === "Enter") links()[0]?.click();
  if (event.key === "ArrowDown") {
    links()[0]?.focus();
    event.preventDefault();
  }
});

// Up and down go from row to row; Tab does, too.
body.addEventListener("keydown", event => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  const all = links();
  all[all.indexOf(document.activeElement) + step]?.focus();
  event.preventDefault();
});
