// One cluster: how it is, what it waits for, its members, what happened.

import { clock, element, setMark, setText } from "./text.js";

const part = id => document.getElementById(id);
const shown = new Map();  // what each part was made from: only what differs is made anew

function remake(id, data, make) {
  const text = JSON.stringify(data);
  if (shown.get(id) === text) return;
  shown.set(id, text);
  part(id).replaceChildren(...make(data));
}

const cell = (content, attributes = {}) => element("td", attributes, content || "–");
const number = content => cell(content, { class: "number" });

function memberRow(member) {
  return element("tr", {},
    element("th", { scope: "row" }, member.name),
    cell(member.role),
    cell(member.ready ? "yes" : "no", { "data-mark": member.ready ? "good" : "warning" }),
    cell(member.version), cell(member.node), cell(member.pod), cell(member.volume),
    number(member.db), number(member.lag), number(member.restarts),
    number(member.created && clock(member.created, "age")));
}

function fact(name, value) {
  return element("div", {}, element("dt", {}, name), element("dd", {}, value));
}

function about(cluster) {
  const facts = [];
  if (cluster.ready) facts.push(fact("ready", cluster.ready));
  if (cluster.version) facts.push(fact("etcd", cluster.version));
  if (cluster.leader) facts.push(fact("leader", cluster.leader));
  facts.push(...cluster.about.map(({ name, value }) => fact(name, value)));
  if (cluster.created) facts.push(fact("age", clock(cluster.created, "age")));
  return facts;
}

function remark({ text, since, more }) {
  const line = element("p", {}, text);
  if (since) line.append(", since ", clock(since, "ago"));
  return more ? [line, element("p", { class: "more" }, more)] : [line];
}

function verdict(one) {
  const times = element("p", { class: "times" }, "since ", clock(one.since, "ago"));
  if (one.deadline) times.append(", until ", element("span", {}, one.deadline), " (", clock(one.deadline, "deadline"), ")");
  const article = element("article", { "data-kind": one.mark },
    element("h3", {}, `${one.rule} ${one.verb}: ${one.reason}`), element("p", {}, one.message), times);
  if (one.advice) article.append(element("p", {}, element("strong", {}, "You can: "), one.advice));
  return article;
}

function change({ mark, at, text }) {
  return element("li", { "data-mark": mark }, clock(at, "ago"), text);
}

function event({ mark, last, count, reason, about: whom, message }) {
  const title = count > 1 ? `${reason} (${count} times), ${whom}` : `${reason}, ${whom}`;
  return element("li", { "data-mark": mark }, ...(last ? [clock(last, "ago")] : []), title, element("p", {}, message));
}

const nothing = text => [element("li", {}, text)];

// The latest, and all on request.
const latest = 12;
let all = false;

function eventList(events) {
  if (!events.length) return nothing("None; the API server keeps them for about an hour.");
  const items = events.slice(0, all ? events.length : latest).map(event);
  if (items.length < events.length) {
    const more = element("button", { type: "button" }, `Show all ${events.length}`);
    more.addEventListener("click", () => {
      all = true;
      shown.delete("events");
      remake("events", events, eventList);
    });
    items.push(element("li", {}, more));
  }
  return items;
}

export function showCluster(key, message) {
  const { cluster } = message;
  setText(part("cluster-title"), key);
  part("cluster").classList.toggle("absent", !cluster);
  if (!cluster) {
    setText(part("health"), message.synced ? "There is no such cluster." : "Reading …");
    setMark(part("health"), message.synced ? "bad" : "plain");
    for (const id of ["about", "why", "members", "history", "events"]) remake(id, null, () => []);
    document.title = `${key} · Quorate`;
    return;
  }
  setText(part("health"), cluster.health);
  setMark(part("health"), cluster.mark);
  document.title = `${key}: ${cluster.health} · Quorate`;
  remake("about", [cluster.ready, cluster.version, cluster.leader, cluster.about, cluster.created], () => about(cluster));
  remake("why", [cluster.remarks, cluster.verdicts], () => [...cluster.remarks.flatMap(remark), ...cluster.verdicts.map(verdict)]);
  remake("members", cluster.members, members => members.map(memberRow));
  remake("history", cluster.history, history => history.length ? history.map(change) : nothing("Nothing yet."));
  remake("events", cluster.events, eventList);
}

// Before another one is shown.
export function leaveCluster() {
  shown.clear();
  all = false;
}
