// The page's script: shows the newest entries and keeps them fresh. Recorded text only ever becomes text nodes.
import { messageText } from "./model/content-pieces.js";

const REFRESH_MS = 3000;
const ROWS = 20;
/** Where the key is kept: the browser forgets it with the tab. */
const KEY = "hansard-key";

/** @param {string} id */
const part = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** What is shown now, so that nothing moves under the reader's eyes while nothing changes. */
let shown = "";

for (const place of document.querySelectorAll(".origin")) place.textContent = location.origin;
document.addEventListener("submit", (event) => void enter(event));
document.addEventListener("click", (event) => void openDocument(event));
document.addEventListener("visibilitychange", () => void refresh());
setInterval(() => void refresh(), REFRESH_MS);
void refresh();

async function refresh() {
  if (document.hidden) return;
  try {
    showHealth(await ask("/health"));
    const page = await ask(`/entries?limit=${ROWS}`);
    part("notice").hidden = true;
    part("door").hidden = true;
    showEntries(page);
  } catch (error) {
    if (error instanceof Refused) {
      showDoor(error);
      return;
    }
    part("notice").textContent = `${error instanceof Error ? error.message : error} Trying again.`;
    part("notice").hidden = false;
    part("health").dataset.status = "away";
  }
}

/** @param {string} path */
async function ask(path) {
  const key = sessionStorage.getItem(KEY);
  const headers = key === null ? {} : { authorization: `Bearer ${key}` };
  const answer = await fetch(path, { cache: "no-store", headers }).catch(() => {
    throw new Error("The server does not answer.");
  });
  const body = await answer.json();
  if (answer.status === 401 || answer.status === 403) throw new Refused(body.error);
  // A server that cannot record at present says so in the same words as one that can.
  if (!answer.ok && body.error !== undefined) throw new Error(`${body.error.message}. ${body.error.hint ?? ""}`);
  return body;
}

/** The server wants a key, or another one. */
class Refused extends Error {
  /** @param {{ code: string, message: string }} error */
  constructor({ code, message }) {
    super(message);
    this.code = code;
  }
}

/** @param {Refused} refused */
function showDoor({ code }) {
  const reasons = {
    key_wrong: "That key is not known here, or was revoked. Enter another one.",
    scope_insufficient: "That key may not read. Enter one of scope read, review or admin.",
  };
  if (reasons[code] !== undefined) part("door-reason").textContent = reasons[code];
  sessionStorage.removeItem(KEY);
  shown = "";
  part("entries").replaceChildren();
  for (const id of ["empty", "filled", "notice"]) part(id).hidden = true;
  if (!part("door").hidden) return;
  part("door").hidden = false;
  part("key").focus();
}

/** @param {SubmitEvent} event */
async function enter(event) {
  if (event.target !== part("door")) return;
  event.preventDefault();
  const field = /** @type {HTMLInputElement} */ (part("key"));
  sessionStorage.setItem(KEY, field.value.trim());
  field.value = "";
  await refresh();
}

/** A link cannot carry a key, so that with one what it leads to is shown here. @param {MouseEvent} event */
async function openDocument(event) {
  const link = event.target instanceof Element ? event.target.closest("a.json") : null;
  if (link === null || sessionStorage.getItem(KEY) === null) return;
  event.preventDefault();
  try {
    part("document-text").textContent = JSON.stringify(await ask(link.getAttribute("href") ?? ""), null, 2);
    /** @type {HTMLDialogElement} */ (part("document")).showModal();
  } catch (error) {
    if (error instanceof Refused) showDoor(error);
  }
}

function showHealth({ status, version, position }) {
  const entries = position === 1 ? "1 entry" : `${position.toLocaleString()} entries`;
  part("health").dataset.status = status;
  part("health").textContent = `${status} · ${entries} · version ${version}`;
}

function showEntries({ entries, next_cursor }) {
  const state = JSON.stringify(entries.map((entry) => [entry.position, entry.response_chars]));
  if (state === shown) return;
  shown = state;
  part("empty").hidden = entries.length > 0;
  part("filled").hidden = entries.length === 0;
  part("more").hidden = next_cursor === null;
  part("entries").replaceChildren(...entries.map(row));
}

function row(entry) {
  const item = element("li", "entry");
  const link = element("a", "position json", `#${entry.position}`);
  link.href = `/entries/${encodeURIComponent(entry.id)}`;
  link.title = "The whole entry as JSON";
  const time = element("time", "", shortTime(entry.created_at));
  time.dateTime = entry.created_at;
  time.title = entry.created_at;
  const kind = element("span", "kind", entry.kind.replaceAll("_", " "));
  kind.dataset.kind = entry.kind;
  const text = element("p", "text", shownText(entry));
  text.dir = "auto";
  item.append(time, kind, text, labels(entry), link);
  return item;
}

function labels({ project, session_id, client }) {
  const box = element("p", "labels");
  const named = { project, session: session_id, client };
  for (const [name, label] of Object.entries(named)) {
    if (label === "") continue;
    const tag = element("span", "label", label);
    tag.title = `${name}: ${label}`;
    tag.dir = "auto";
    box.append(tag);
  }
  return box;
}

/** Whatever an entry holds, the others are shown beside it. */
function shownText(entry) {
  try {
    return firstLine(textOf(entry)) || "(empty)";
  } catch {
    return "(cannot be shown here)";
  }
}

/** What an entry is about, in a few words. */
function textOf(entry) {
  const wordsByKind = {
    interaction: () => entry.prompt,
    response: () =>
      entry.response_summary ||
      (entry.error ? `failed: ${entry.error}` : `answered, ${counted(entry.response_chars, "character")}`),
    message: () => `${entry.role}: ${messageText(entry).trim() || "(empty)"}`,
    tool_call: () =>
      `${entry.tool}${entry.is_error === true ? " failed" : ""} → ${typeof entry.result === "string" ? entry.result : JSON.stringify(entry.result)}`,
    error: () => entry.error,
    decision: () => entry.decision,
    consolidation: () => entry.summary || `through #${entry.through}`,
    withdrawal: () => `history leaves out #${entry.withdraws}`,
    feedback: () =>
      [`on ${entry.entry_id}`, entry.score === undefined ? "" : `score ${entry.score}`, entry.label, entry.comment]
        .filter(Boolean)
        .join(", "),
    clear: () => `${entry.session_id} starts afresh`,
    session_info: () => entry.title || entry.session_id,
    raw: () => entry.source,
    audit: () => `${entry.action.replaceAll("_", " ")} by ${entry.actor}${entry.target && `: ${entry.target}`}`,
    redaction: () => `${entry.positions.length} forgotten: ${entry.reason}`,
  };
  return (wordsByKind[entry.kind] ?? (() => entry.id))();
}

/** @param {number} count @param {string} one */
function counted(count, one) {
  return `${count.toLocaleString("en-US")} ${one}${count === 1 ? "" : "s"}`;
}

function firstLine(text) {
  const line = String(text)
    .trim()
    .split(/\r\n|[\n\r\u2028\u2029]/, 1)[0];
  return line.length > 300 ? `${line.slice(0, 300)}…` : line;
}

/** The time alone for today, the date as well for older ones. */
function shortTime(iso) {
  const date = new Date(iso);
  const now = new Date();
  const clock = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
  if (date.toDateString() === now.toDateString()) return date.toLocaleTimeString([], { ...clock, second: "2-digit" });
  if (date.getFullYear() !== now.getFullYear()) return date.toLocaleDateString([], { dateStyle: "medium" });
  return date.toLocaleString([], { day: "numeric", month: "short", ...clock });
}

function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}
