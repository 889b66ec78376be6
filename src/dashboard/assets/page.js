// Which page is shown, the keys, and the connection. #/ is the fleet, #/namespace/name a cluster.

import { leaveCluster, showCluster } from "./cluster.js";
import { clearFilter, focusRow, isFiltered, showFleet } from "./fleet.js";
import { Feed } from "./live.js";
import { element, setMark, setServerTime, setText } from "./text.js";

const part = id => document.getElementById(id);
const kept = "quorate-token";  // of this origin alone, port included

// The token comes once, behind the #, which no server is sent; then it leaves the address.
function takeToken() {
  const given = /^#token=([0-9a-f]+)$/.exec(location.hash);
  if (given) {
    localStorage.setItem(kept, given[1]);
    history.replaceState(null, "", "#/");
  }
  return localStorage.getItem(kept) ?? "";
}

function clusterOf(hash) {
  const [, namespace, name] = /^#\/([^/]+)\/([^/]+)$/.exec(hash) ?? [];
  return name && { namespace, name, key: `${namespace}/${name}` };
}

function showState(state) {
  const texts = { live: "Live", lost: "Connection lost. Trying again …", refused: "Not allowed" };
  setText(part("connection"), texts[state]);
  setMark(part("connection"), state === "live" ? "good" : "bad");
  if (state === "refused") showTrouble(["This page needs the address that `quorate dashboard` has printed, with its token. Open that one."]);
}

function showTrouble(texts) {
  const list = part("trouble");
  if (list.dataset.texts === JSON.stringify(texts)) return;
  list.dataset.texts = JSON.stringify(texts);
  list.replaceChildren(...texts.map(text => element("li", {}, text)));
  list.hidden = texts.length === 0;
}

let feed = null;
let current = null;  // the cluster that is shown

function follow() {
  feed?.stop();
  feed = null;
  if (document.hidden) return;  // a page that nobody sees needs no connection
  const cluster = current;
  const path = cluster ? `live?namespace=${cluster.namespace}&name=${cluster.name}` : "live";
  feed = new Feed(path, token, message => {
    setServerTime(message.now);
    showTrouble(message.trouble);
    if (cluster) showCluster(cluster.key, message);
    else showFleet(message);
  }, showState);
}

function route() {
  if (location.hash.startsWith("#token=")) token = takeToken();
  const before = current;
  current = clusterOf(location.hash) ?? null;
  leaveCluster();
  part("fleet").hidden = current !== null;
  part("cluster").hidden = current === null;
  if (current) {
    showCluster(current.key, { synced: false, cluster: null });
    scrollTo(0, 0);
    part("cluster-title").focus({ preventScroll: true });
  } else if (before) {
    document.title = "Quorate";
    focusRow(before.key);
  }
  follow();
}

document.addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape" && current) {
    location.hash = "#/";
  } else if (event.key === "Escape" && isFiltered()) {
    clearFilter();
  } else if (event.key === "/" && !current && event.target !== part("filter")) {
    event.preventDefault();
    part("filter").focus();
  }
});
document.addEventListener("visibilitychange", follow);
addEventListener("hashchange", route);

let token = takeToken();
route();
