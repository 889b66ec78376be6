// Elements and times. Everything that comes from the server becomes text (textContent), never markup.

export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);  // strings become text
  return made;
}

// Sets what differs, so that screen readers and selections are left alone by what does not.
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

export function setMark(node, mark) {
  if (node.dataset.mark !== mark) node.dataset.mark = mark;
}

// As `quorate status` writes it: 45s, 5m10s, 12m, 3h12m, 2d5h, 41d.
export function age(milliseconds) {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  const minutes = Math.floor(seconds / 60), hours = Math.floor(minutes / 60), days = Math.floor(hours / 24);
  const two = (a, unit, b, smaller) => b ? `${a}${unit}${b}${smaller}` : `${a}${unit}`;
  if (days >= 10) return `${days}d`;
  if (days > 0) return two(days, "d", hours % 24, "h");
  if (hours > 0) return two(hours, "h", minutes % 60, "m");
  if (minutes >= 10) return `${minutes}m`;
  if (minutes > 0) return two(minutes, "m", seconds % 60, "s");
  return `${seconds}s`;
}

// The server's clock counts: ages must not depend on that of the machine that shows them.
let ahead = 0;
export function setServerTime(text) {
  ahead = Date.parse(text) - Date.now();
}

const forms = {
  age: (now, time) => age(now - time),
  ago: (now, time) => `${age(now - time)} ago`,
  deadline: (now, time) => time < now ? `${age(now - time)} ago: it is overdue` : `in ${age(time - now)}`,
};

function tick(node) {
  const now = Date.now() + ahead, time = Date.parse(node.dateTime);
  setText(node, forms[node.dataset.form](now, time));
  node.classList.toggle("late", node.dataset.form === "deadline" && time < now);
}

// A time that keeps itself up to date. `form`: age, ago or deadline.
export function clock(text, form) {
  const node = element("time", { datetime: text, title: text, "data-form": form });
  tick(node);
  return node;
}

setInterval(() => document.querySelectorAll("time[data-form]").forEach(tick), 1000);
