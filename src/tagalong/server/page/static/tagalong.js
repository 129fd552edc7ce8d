// The page works without this file. With it, the next item is there at once, answers are sent in the
// background and kept until they are saved, keys work, and what others do appears.
// All content comes from the server as HTML; text from items is only ever set as text.

const { base, api, tip, who } = document.body.dataset;
const place = document.querySelector("[data-item-place]");
const listPlace = document.querySelector("[data-list-place]");
const find = (selector, within = document) => within.querySelector(selector);
const findAll = (selector, within = document) => [...within.querySelectorAll(selector)];
const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const pathOf = (id) => `/items/${encodeURIComponent(id)}`;

// Messages

const toasts = find("[data-toasts]");

function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

// Buttons are pairs of a text and what they do; a message without `stays` makes room for the next.
function tell(text, { kind = "", stays = false, buttons = [] } = {}) {
  if (!toasts) return;
  for (const old of findAll("[data-passing]", toasts)) old.remove();
  const notice = element("div", { className: `notice ${kind}` });
  notice.append(element("span", { textContent: text, dir: "auto" }));
  const close = () => notice.remove();
  if (stays) buttons = [...buttons, ["Close", () => {}]];
  for (const [name, act] of buttons) {
    const button = element("button", {
      className: "button quiet",
      type: "button",
      textContent: name,
    });
    button.addEventListener("click", () => {
      close();
      act();
    });
    notice.append(button);
  }
  if (!stays) {
    notice.dataset.passing = "";
    setTimeout(close, 8000);
  }
  toasts.append(notice);
}

// Changes wait in an outbox until the server has acknowledged them. Each has its idempotency key, so
// that sending it again is harmless. The tab remembers them if the page is loaded again.

const stored = (name) => {
  try {
    return JSON.parse(sessionStorage.getItem(`tagalong ${base} ${name}`)) ?? [];
  } catch {
    return [];
  }
};
const store = (name, value) => {
  try {
    sessionStorage.setItem(`tagalong ${base} ${name}`, JSON.stringify(value));
  } catch {
    // Without storage, only loading the page again loses what waits, and the browser warns.
  }
};
const outbox = stored("outbox");
// What this tab has done, the last one at the end: answers, items that were put off, and changes
// by forms, which a notice tells about.
const undoable = stored("undoable");
let isSending = false;
let isLoggedOut = false;
let isOffline = false;
let isLeaving = false;
let wake = () => {};

function remember() {
  store("outbox", outbox);
  store("undoable", undoable.slice(-200));
  showConnection();
}

function showConnection() {
  const status = find("[data-connection]");
  if (!status) return;
  const waiting = outbox.length ? `${outbox.length} not saved yet` : "";
  let text = "";
  if (isLoggedOut) text = "You are logged out.";
  else if (isOffline) text = "No connection.";
  const message = [text, text && waiting].filter(Boolean).join(" ");
  if (status.dataset.shown === message) return;
  status.dataset.shown = message;
  status.textContent = message;
  if (isLoggedOut) {
    const next = encodeURIComponent(location.pathname + location.search);
    status.append(" ", element("a", { href: `/login?next=${next}`, textContent: "Log in" }));
  }
}

function setOffline(value) {
  if (isOffline && !value) {
    tell(outbox.length ? "Connected again. What waited is being saved." : "Connected again.");
  }
  isOffline = value;
  showConnection();
}

function send(change) {
  outbox.push(change);
  remember();
  deliver();
}

async function deliver() {
  if (isSending) return wake();
  isSending = true;
  let delay = 500;
  while (outbox.length) {
    const change = outbox[0];
    const response = await attempt(change);
    if (response === null || response.status === 401) {
      isLoggedOut = response !== null;
      setOffline(response === null);
      const woken = new Promise((resolve) => (wake = resolve));
      await Promise.race([woken, pause(delay)]);
      delay = Math.min(2 * delay, 8000);
      continue;
    }
    delay = 500;
    isLoggedOut = false;
    setOffline(false);
    outbox.shift();
    const answer = await response.json().catch(() => ({}));
    settle(change, response, answer);
    remember();
  }
  isSending = false;
}

// The response, or null if it has to be tried again.
async function attempt(change) {
  const body = { ...change.body };
  if (change.undoes) {
    const entry = undoable.find((each) => each.key === change.undoes);
    if (entry?.seq === undefined) return new Response("{}", { status: 410 });
    if (entry.batch) body.batch = entry.batch;
    else body.seq = entry.seq;
  }
  try {
    const headers = { "Content-Type": "application/json", "Idempotency-Key": change.key };
    const given = change.kind === "skip" ? {} : { body: JSON.stringify(body), headers };
    const response = await fetch(change.url, { method: "POST", ...given });
    return response.status === 429 || response.status >= 500 ? null : response;
  } catch {
    return null;
  }
}

function settle(change, response, answer) {
  const entry = undoable.find((each) => each.key === (change.undoes ?? change.key));
  if (response.ok) {
    if (change.kind === "answer") {
      entry.seq = answer.seq;
      items?.learnt(change.id);
    } else if (change.kind === "undo") {
      undoable.splice(undoable.indexOf(entry), 1);
      tell(`Undone: ${change.title}`, {
        buttons: [["Redo", () => redo(change, answer.seq)]],
      });
      items?.reopened(change.id);
    } else if (change.kind === "redo") {
      undoable.push({ key: change.key, id: change.id, title: change.title, seq: answer.seq });
      tell(`Done again: ${change.title}`, { buttons: [["Undo", undoLast]] });
      items?.reopened(change.id);
    } else {
      items?.answered.delete(change.id);
      list?.refreshSoon();
    }
    return;
  }
  if (entry && !change.undoes) undoable.splice(undoable.indexOf(entry), 1);
  const open =
    change.id === undefined
      ? ["Open the history", () => (location = `${base}/history`)]
      : ["Open it", () => items?.show(change.id) ?? (location = base + pathOf(change.id))];
  if (change.kind === "answer" && response.status === 409 && "labels" in answer) {
    const theirs =
      answer.labels === null ? "no label any more" : answer.labels.join(", ") || "none of these";
    const again = () => answerItem({ ...change, was: answer.labels });
    tell(`${change.title} was not saved: somebody else has changed it meanwhile to ${theirs}.`, {
      kind: "error",
      stays: true,
      buttons: [[`Change it to ${change.body.labels.join(", ") || "none of these"}`, again], open],
    });
  } else if (response.status !== 410 || change.kind !== "undo") {
    const detail = answer.detail ?? `the server answered ${response.status}`;
    const what = change.kind === "undo" ? "was not undone" : "was not changed";
    tell(`${change.title} ${what}: ${detail}`, { kind: "error", stays: true, buttons: [open] });
  }
  items?.answered.delete(change.id);
  items?.learnt(change.id);
}

const newKey = () =>
  crypto.randomUUID?.() ?? [...crypto.getRandomValues(new Uint32Array(4))].join("-");

function answerItem({ id, title, body, was }) {
  const key = newKey();
  undoable.push({ key, id, title });
  send({
    kind: "answer",
    key,
    id,
    title,
    url: `${api}${pathOf(id)}/answer`,
    body: { labels: body.labels, was },
  });
  const name = body.labels.join(", ") || "none of these";
  tell(`${title}: ${name}`, { buttons: [["Undo", undoLast]] });
}

function undoLast() {
  const entry = undoable.findLast((each) => !each.isTaken);
  if (!entry) {
    tell("Nothing was changed here that could be undone. History has all changes.");
    return;
  }
  const form = undoForm();
  if (form && entry.key === keyOfNotice(form)) {
    form.requestSubmit();
    return;
  }
  if (entry.isSkip) {
    undoable.splice(undoable.indexOf(entry), 1);
    remember();
    tell(`Back to ${entry.title}. No answer was changed.`);
    items?.reopened(entry.id);
    return;
  }
  entry.isTaken = true;
  const key = `undo-${entry.key}`;
  send({
    kind: "undo",
    key,
    undoes: entry.key,
    id: entry.id,
    title: entry.title,
    url: `${api}/undo`,
    body: {},
  });
}

function redo({ id, title, key }, seq) {
  send({ kind: "redo", key: `redo-${key}`, id, title, url: `${api}/undo`, body: { seq } });
}

// The form that undoes the change that the page tells about, if there is one.
const undoForm = () => find("[data-undo-form]");
const keyOfNotice = (form) => `notice-${form.dataset.undoForm}`;

// A change by a form is the last one, unless the page is an old one that was opened again.
function recordNotice(form) {
  const seq = Number(form.dataset.undoForm);
  if (undoable.some((each) => each.seq >= seq)) return;
  const title = find("span", form.parentElement).textContent;
  const batch = form.elements.namedItem("batch")?.value;
  undoable.push({ key: keyOfNotice(form), title, seq, batch });
  remember();
}

function dropNotice(form) {
  const at = undoable.findIndex((each) => each.key === keyOfNotice(form));
  if (at >= 0) undoable.splice(at, 1);
  remember();
}

// Parts of the page, fetched as HTML

async function fetchPart(path) {
  const response = await fetch(`${base}/parts${path}`, { headers: { Accept: "text/html" } });
  isLoggedOut = response.status === 401 || response.redirected;
  showConnection();
  if (!response.ok || response.redirected) throw new Error(`status ${response.status}`);
  const holder = element("template");
  holder.innerHTML = await response.text();
  return holder.content;
}

// The item, and the ones that come next

class Items {
  ready = new Map(); // items that were fetched before they are needed
  answered = new Set(); // items that leave the list before the server says so

  constructor() {
    this.adopt(find("[data-item]", place));
    addEventListener("popstate", () => this.showAddress());
    setInterval(() => this.tellOthers(), 20_000);
    this.prefetch();
    this.tellOthers();
  }

  get form() {
    return find("[data-answer-form]", place);
  }

  get title() {
    const title = find(".item-title", place).textContent;
    return title.length > 60 ? `${title.slice(0, 59)}…` : title;
  }

  get query() {
    const parameters = new URLSearchParams(location.search);
    for (const name of ["seq", "label", "after", "rows"]) parameters.delete(name);
    return parameters.size ? `?${parameters}` : "";
  }

  adopt(shown) {
    this.shown = shown;
    this.isLeft = false;
    this.id = shown?.dataset.item;
    this.isTouched = false;
    this.shownAt = performance.now();
    if (shown && "unsettled" in shown.dataset)
      setTimeout(() => this.id === shown.dataset.item && this.renew(false), 1000);
  }

  // Shows an item, at once if it was fetched before.
  async show(id, { push = true } = {}) {
    let next = this.ready.get(id);
    this.ready.delete(id);
    if (!next) {
      this.wanted = id;
      place.setAttribute("aria-busy", "true");
      try {
        next = await this.fetch(id);
      } catch (error) {
        if (this.wanted === id) {
          const again = ["Try again", () => this.show(id, { push })];
          const text =
            error.message === "status 404"
              ? "This item is not there any more."
              : "The item cannot be fetched.";
          tell(text, { kind: "warn", stays: true, buttons: [again] });
        }
        return;
      } finally {
        place.removeAttribute("aria-busy");
      }
      if (this.wanted !== id) return; // another one was asked for meanwhile
    }
    this.wanted = undefined;
    if (push) history.pushState(null, "", base + pathOf(id) + this.query);
    this.replace(next);
    scrollTo(0, 0);
    if (!document.activeElement.matches("[data-filters] *")) this.focus();
    list.mark(id);
    this.tellOthers();
    this.prefetch();
  }

  async fetch(id, label) {
    const filters = new URLSearchParams(this.query);
    if (label !== undefined) filters.set("label", label);
    return find("[data-item]", await fetchPart(`${pathOf(id)}?${filters}`));
  }

  replace(next) {
    const isOpen = find("[data-reasons]", place)?.open;
    place.replaceChildren(next);
    const reasons = find("[data-reasons]", place);
    if (reasons) reasons.open = Boolean(isOpen);
    this.adopt(next);
    document.title = `${find(".item-title", next).textContent} · Filing · Tagalong`;
  }

  focus() {
    find(".item-title", place).focus({ preventScroll: true });
  }

  async prefetch() {
    for (const id of list.after(this.id).slice(0, 2)) {
      try {
        this.ready.set(id, await this.fetch(id));
      } catch {
        return;
      }
    }
    const kept = new Set(list.after(this.id).slice(0, 3));
    for (const id of this.ready.keys()) if (!kept.has(id)) this.ready.delete(id);
  }

  showAddress() {
    const id = location.pathname.startsWith(`${base}/items/`)
      ? decodeURIComponent(location.pathname.slice(base.length + 7))
      : undefined;
    if (id === undefined) location.reload();
    else this.show(id, { push: false });
  }

  move(step) {
    const ids = list.ids();
    const at = ids.indexOf(this.id);
    const id = at < 0 ? ids[0] : ids[at + step];
    if (id !== undefined) this.show(id);
  }

  async moveOn() {
    let [id] = list.after(this.id);
    if (id === undefined) {
      if (!(await list.refresh())) return; // with the connection, the next item comes
      [id] = list.after(this.id);
    }
    if (id !== undefined) return this.show(id);
    this.adopt(undefined);
    place.replaceChildren(find("#no-item").content.cloneNode(true));
    find("[data-no-item]", place).focus();
    history.pushState(null, "", base + this.query);
  }

  // Answers

  get chosen() {
    return findAll("[name=labels]:checked", this.form).map((input) => input.value);
  }

  confirm(labels = this.chosen) {
    const problem = find("[data-form-problem]", place);
    if (!this.form || !problem || this.isLeft) return;
    if (!labels.length && labels !== NONE) {
      problem.textContent = "Choose a label, or “None of these”.";
      return;
    }
    const { title } = this;
    const was = JSON.parse(this.shown.dataset.was);
    answerItem({ id: this.id, title, body: { labels }, was });
    this.leave(was === null);
  }

  skip() {
    if (!find("[data-skip]", place) || this.isLeft) return;
    const { title } = this;
    const key = newKey();
    undoable.push({ key, id: this.id, title, isSkip: true });
    send({
      kind: "skip",
      key,
      id: this.id,
      title,
      url: `${api}${pathOf(this.id)}/skip`,
      body: {},
    });
    tell(`${title} comes later.`, { buttons: [["Back to it", undoLast]] });
    this.leave(true);
  }

  // The item is done. An open one makes room for the next, others show the new answer.
  leave(wasOpen) {
    const id = this.id;
    this.isLeft = true;
    for (const button of findAll("button", this.form)) button.disabled = true;
    if (!wasOpen) return;
    this.answered.add(id);
    this.moveOn();
    list.remove(id);
  }

  // The server has learnt: what is shown may be suggested differently now.
  async learnt(id) {
    list.refreshSoon();
    if (this.id === undefined) return;
    if (this.id === id) return this.renew(true);
    if (!this.isTouched) return this.renew(false);
  }

  // An item is shown again after an undo; a change of something else only renews what is shown.
  reopened(id) {
    if (id === undefined) return this.learnt();
    this.answered.delete(id);
    this.ready.delete(id);
    list.refreshSoon();
    this.show(id);
  }

  // Fetches the shown item again. Labels never change places under somebody's fingers: after the
  // first moment, a new order is offered instead.
  async renew(always) {
    const id = this.id;
    let next;
    try {
      next = await this.fetch(id, find("[data-why][aria-current]", place)?.dataset.why);
    } catch {
      return;
    }
    if (this.id !== id) return;
    const order = (within) =>
      findAll("[name=labels]", within)
        .map((input) => [input.value, input.defaultChecked])
        .join("\n");
    const isSame = order(next) === order(place) && next.dataset.was === this.shown.dataset.was;
    const hasFocus = place.contains(document.activeElement);
    if (always || (!this.isTouched && (isSame || performance.now() - this.shownAt < 300))) {
      this.replace(next);
      if (hasFocus) this.focus();
    } else if (!isSame) {
      this.offer("The suggestions have changed.", next);
    }
  }

  offer(text, next) {
    find("[data-offer]", place)?.remove();
    const button = element("button", {
      className: "button quiet",
      type: "button",
      textContent: "Show",
    });
    button.addEventListener("click", () => {
      this.replace(next);
      this.focus();
    });
    const notice = element(
      "p",
      { className: "notice news-of-item" },
      element("span", { textContent: text, dir: "auto" }),
      button,
    );
    notice.dataset.offer = "";
    notice.setAttribute("role", "status");
    find(".item-labels", place).prepend(notice);
  }

  // Reasons

  async why(label) {
    const id = this.id;
    for (const link of findAll("[data-why]", place)) {
      if (link.dataset.why === label) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
    try {
      const next = await this.fetch(id, label);
      if (this.id !== id) return;
      const reading = find("[data-reading]", place);
      const hadFocus = reading.contains(document.activeElement);
      const isOpen = find("[data-reasons]", place)?.open;
      reading.replaceChildren(...find("[data-reading]", next).childNodes);
      const reasons = find("[data-reasons]", place);
      if (reasons) reasons.open = Boolean(isOpen);
      if (hadFocus) this.focus();
    } catch {
      tell("The reasons cannot be fetched.", { kind: "warn" });
    }
  }

  whyNext() {
    const links = findAll("[data-why]:not([hidden])", place);
    const at = links.findIndex((link) => link.hasAttribute("aria-current"));
    const reasons = find("[data-reasons]", place);
    if (reasons && !reasons.open) reasons.open = true;
    else if (links.length) this.why(links[(at + 1) % links.length].dataset.why);
  }

  // Others

  tellOthers() {
    if (this.id === undefined || document.hidden || !this.form || !find("[data-confirm]", place))
      return;
    fetch(`${api}${pathOf(this.id)}/viewing`, { method: "POST" }).catch(() => {});
  }

  async answeredByOthers({ id, actor, labels }) {
    if (id !== this.id || this.answered.has(id) || outbox.some((change) => change.id === id))
      return;
    try {
      const next = await this.fetch(id);
      if (this.id !== id || next.dataset.was === this.shown.dataset.was) return;
      this.offer(
        `${actor || "Somebody"} has filed this: ${labels?.join(", ") || "none of these"}.`,
        next,
      );
    } catch {
      // The next attempt to answer tells.
    }
  }

  viewed({ id, viewers }) {
    const others = viewers.filter((name) => name !== who);
    const text = others.length ? `${others.join(", ")} looks at it` : "";
    const row = list.row(id);
    if (row) find("[data-row-viewers]", row).textContent = text;
    if (id === this.id) find("[data-viewers]", place).textContent = text && `${text} too`;
    clearTimeout(this.timers?.[id]);
    if (others.length) {
      this.timers ??= {};
      this.timers[id] = setTimeout(() => this.viewed({ id, viewers: [] }), 31_000);
    }
  }
}

const NONE = [];

// The list

class List {
  rows = 40;

  row(id) {
    return findAll("[data-rows] > [data-id]", listPlace).find((row) => row.dataset.id === id);
  }

  ids() {
    return findAll("[data-rows] > [data-id]", listPlace).map((row) => row.dataset.id);
  }

  // The open items from one on, and then those before it.
  after(id) {
    const ids = this.ids();
    const at = ids.indexOf(id);
    return [...ids.slice(at + 1), ...ids.slice(0, Math.max(at, 0))].filter(
      (each) => !items?.answered.has(each),
    );
  }

  mark(id) {
    for (const link of findAll(".item-row > a", listPlace)) {
      const isShown = link.parentElement.dataset.id === id;
      if (isShown) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
      if (isShown && matchMedia("(min-width: 72rem)").matches)
        link.scrollIntoView({ block: "nearest" });
    }
  }

  remove(id) {
    if (find("[data-rows]", listPlace)?.dataset.state !== "answered") this.row(id)?.remove();
  }

  refreshSoon() {
    this.timer ??= setTimeout(() => this.refresh(), 400);
  }

  async refresh() {
    clearTimeout(this.timer);
    this.timer = undefined;
    const filters = new URLSearchParams(items.query);
    filters.set("rows", this.rows);
    let next;
    try {
      next = await fetchPart(`/list?${filters}`);
    } catch {
      return false;
    }
    const waiting = find("[data-waiting]", next)?.dataset.waiting;
    const count = find("[data-open-count]");
    count.textContent = Number(waiting).toLocaleString("en");
    count.hidden = waiting === "0";
    const focused = document.activeElement?.closest?.(".item-row")?.dataset.id;
    const old = find("[data-list-body]", listPlace);
    const top = listPlace.scrollTop;
    old.replaceWith(find("[data-list-body]", next));
    if (find("[data-rows]", listPlace)?.dataset.state === "open") {
      for (const id of items.answered) this.row(id)?.remove();
    }
    this.mark(items.id);
    listPlace.scrollTop = top;
    if (focused) find("a", this.row(focused) ?? listPlace).focus({ preventScroll: true });
    if (items.id === undefined && this.ids().length) items.show(this.ids()[0]);
    else items.prefetch();
    return true;
  }
}

// Searching labels: a combobox whose options come from the server

class LabelSearch {
  latest = Promise.resolve();

  get input() {
    return find("[role=combobox]", place);
  }

  get box() {
    return find("[role=listbox]", place);
  }

  get active() {
    return find("[aria-selected=true]", this.box);
  }

  open(makesNew) {
    if (!this.input) return;
    this.makesNew = makesNew;
    this.input.focus();
    this.input.select();
    this.look();
  }

  close() {
    if (!this.input) return;
    this.box.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
  }

  look() {
    const input = this.input;
    const typed = input.value;
    const query = new URLSearchParams({ q: typed });
    if (this.makesNew) query.set("new", "true");
    this.latest = fetchPart(`/labels?${query}`).then(
      (options) => {
        if (this.input !== input || input.value !== typed) return;
        this.box.replaceChildren(options);
        if (document.activeElement !== input) return;
        this.box.hidden = false;
        input.setAttribute("aria-expanded", "true");
        if (typed.trim()) this.select(find("[data-label]", this.box));
      },
      () => tell("Labels cannot be searched without a connection.", { kind: "warn" }),
    );
  }

  select(option) {
    this.active?.setAttribute("aria-selected", "false");
    if (!option) return;
    option.setAttribute("aria-selected", "true");
    option.scrollIntoView({ block: "nearest" });
    this.input.setAttribute("aria-activedescendant", option.id);
  }

  step(by) {
    if (this.box.hidden) return this.look();
    const options = findAll("[data-label]", this.box);
    const at = options.indexOf(this.active);
    this.select(options[(at + by + options.length) % options.length]);
  }

  async take() {
    await this.latest;
    const option = this.active;
    if (option) this.choose(option.dataset.label, "new" in option.dataset);
    else if (!this.input.value.trim()) items.confirm();
  }

  choose(label, isNew) {
    const known = findAll("[name=labels]", place).find((input) => input.value === label);
    if (known) {
      known.checked = true;
    } else {
      const chip = find("#chip-template").content.cloneNode(true).firstElementChild;
      const input = find("[name=labels]", chip);
      input.value = label;
      input.checked = true;
      find(".chip-name", chip).textContent = label;
      const link = find("[data-why]", chip);
      link.dataset.why = label;
      link.hidden = isNew;
      link.href = `${base}${pathOf(items.id)}?label=${encodeURIComponent(label)}`;
      find(".visually-hidden", link).textContent = `Why ${label}`;
      find("[data-chips]", place).append(chip);
      this.number();
    }
    items.isTouched = true;
    find("[data-form-problem]", place).textContent = "";
    this.input.value = "";
    this.close();
    find("[data-confirm]", place).focus();
  }

  number() {
    findAll("[data-chip]", place).forEach((chip, place) => {
      find("[data-digit]", chip).textContent = place < 9 ? place + 1 : "";
    });
  }
}

// News from the server: what others do, and what comes in

class News {
  constructor() {
    this.after = tip;
    this.listen();
    addEventListener("online", () => this.listen());
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) this.stop();
      else this.listen();
    });
  }

  stop() {
    this.source?.close();
    this.source = undefined;
    clearTimeout(this.timer);
  }

  listen() {
    this.stop();
    if (document.hidden) return;
    const source = new EventSource(`${api}/events?after=${this.after}`);
    this.source = source;
    source.onopen = () => {
      setOffline(false);
      deliver();
      if (this.wasLost) {
        if (items.isLeft && items.answered.has(items.id)) items.moveOn();
        list.refreshSoon();
      }
      this.wasLost = false;
    };
    source.onerror = () => {
      if (this.source !== source) return;
      this.wasLost = true;
      this.timer = setTimeout(() => {
        if (source.readyState !== EventSource.OPEN) setOffline(true);
        if (source.readyState === EventSource.CLOSED) this.listen();
      }, 1500);
    };
    const kinds = [
      "item",
      "answer",
      "filed",
      "asked",
      "undo",
      "label-added",
      "label-renamed",
      "label-merged",
      "label-forgotten",
      "label-target",
      "settings",
      "forgotten",
    ];
    for (const kind of kinds) source.addEventListener(kind, (event) => this.heard(kind, event));
    source.addEventListener("viewing", (event) => items.viewed(JSON.parse(event.data)));
  }

  heard(kind, event) {
    this.after = event.lastEventId;
    const facts = JSON.parse(event.data);
    if (kind === "undo") items.answered.clear();
    if (kind === "answer" || kind === "filed") items.answeredByOthers(facts);
    list.refreshSoon();
  }
}

// Keys and clicks

class Keys {
  get areOn() {
    return localStorage.getItem("tagalong keys") !== "off";
  }

  constructor() {
    const box = find("[data-keys-on]");
    box.checked = this.areOn;
    box.addEventListener("change", () =>
      localStorage.setItem("tagalong keys", box.checked ? "on" : "off"),
    );
    find("[data-help-open]").addEventListener("click", () => this.help());
    document.addEventListener("keydown", (event) => this.press(event));
    place.addEventListener("submit", (event) => this.submit(event));
    place.addEventListener("click", (event) => this.click(event));
    place.addEventListener("mousedown", (event) => this.choose(event));
    place.addEventListener("change", () => {
      items.isTouched = true;
      find("[data-form-problem]", place).textContent = "";
    });
    place.addEventListener("input", (event) => {
      if (event.target !== search.input) return;
      items.isTouched = true;
      search.look();
    });
    place.addEventListener("focusout", (event) => {
      if (event.target === search.input) search.close();
    });
    listPlace.addEventListener("click", (event) => this.clickList(event));
    listPlace.addEventListener("change", (event) =>
      event.target.closest("[data-filters]")?.requestSubmit(),
    );
  }

  help() {
    find("#help").showModal();
  }

  press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || find("dialog[open]"))
      return;
    if (event.target === search.input) return this.pressInSearch(event);
    if (event.target.matches("input:not([type=checkbox], [type=radio]), select, textarea")) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    if (!this.areOn) return;
    if (event.key === "Enter" && event.target.closest("a, button, summary")) return;
    const act = this.actions[event.key] ?? this.digit(event.key);
    if (!act) return;
    event.preventDefault();
    if (!event.repeat || event.key === "j" || event.key === "k") act();
  }

  actions = {
    Enter: () => items.confirm(),
    0: () => items.confirm(NONE),
    "/": () => search.open(false),
    n: () => search.open(true),
    u: () => undoLast(),
    s: () => items.skip(),
    j: () => items.move(1),
    k: () => items.move(-1),
    w: () => items.whyNext(),
    f: () => find("[data-key-link=f]")?.click(),
    "?": () => this.help(),
  };

  digit(key) {
    if (!/^[1-9]$/.test(key)) return undefined;
    const input = findAll("[name=labels]", place)[key - 1];
    return input && !input.matches(":disabled") ? () => input.click() : undefined;
  }

  pressInSearch(event) {
    const acts = {
      ArrowDown: () => search.step(1),
      ArrowUp: () => search.step(-1),
      Enter: () => search.take(),
      Escape: () => {
        if (search.box.hidden) items.focus();
        else search.close();
      },
    };
    const act = acts[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  submit(event) {
    if (event.target !== items.form) return;
    event.preventDefault();
    const button = event.submitter;
    if (button?.matches("[data-none]")) items.confirm(NONE);
    else if (button?.matches("[data-skip]")) items.skip();
    else items.confirm();
  }

  click(event) {
    const link = event.target.closest("a[data-why]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    items.why(link.dataset.why);
  }

  // Before the field loses the focus, which closes the options.
  choose(event) {
    const option = event.target.closest("[data-label]");
    if (!option) return;
    event.preventDefault();
    search.choose(option.dataset.label, "new" in option.dataset);
  }

  clickList(event) {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    const row = event.target.closest(".item-row");
    if (row) {
      event.preventDefault();
      items.show(row.dataset.id);
    } else if (event.target.closest("[data-more]")) {
      event.preventDefault();
      list.rows = Math.min(list.rows + 40, 400);
      list.refresh();
    }
  }
}

// The progress of an import, until it has ended

async function follow(progress) {
  while (find("[data-active]", progress)) {
    await pause(500);
    try {
      const answer = await fetch(progress.dataset.job);
      if (answer.ok) progress.innerHTML = await answer.text();
      else if (answer.status < 500) break;
    } catch {
      await pause(2000); // the connection is lost: try again
    }
  }
  location.reload();
}

// What waits stays in the tab when one goes to another page of it, so only leaving is a loss.
document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href]");
  isLeaving = Boolean(link) && link.origin === location.origin && !event.defaultPrevented;
});
document.addEventListener("submit", (event) => {
  isLeaving = !event.defaultPrevented;
  if (event.target.matches("[data-undo-form]")) dropNotice(event.target);
});
addEventListener("beforeunload", (event) => {
  if (outbox.length && !isLeaving) event.preventDefault();
});

let items;
let list;
let search;
if (place) {
  list = new List();
  search = new LabelSearch();
  items = new Items();
  new Keys();
  new News();
}
if (base) {
  if (undoForm()) recordNotice(undoForm());
  showConnection();
  deliver();
}
const progress = find("[data-job]");
if (progress) follow(progress);
