// One session as one HTML page, for people who have no Hansard: masked, readable without a network and without scripts, with
// the hashes of its entries and the seal in it.
import type { Head } from "../../log/port.js";
import { messageText } from "../../model/content-parts.js";
import type { Entry } from "../../model/entry.js";
import { hexOf } from "../../model/hex.js";
import type { Seal } from "../../model/verification.js";
import type { ExportQuery } from "../exports.js";
import { type ExportParts, readable, selectEntries } from "../selection.js";
import { Fragments, type Survey } from "./fragments.js";
import { pageBottom, pageTop, SHARE_VERSION, type SharedEntry, type SharedHead, shownHash } from "./page.js";

/** All articles together; entries beyond are named by their hashes alone. */
const SHOWN_CHARS_MAX = 24 * 1024 * 1024;
const TITLE_CHARS_MAX = 120;
/** Enough for the mask to see a secret as a whole. */
const OPENING_CHARS_MAX = 4_000;
const FACT_CHARS_MAX = 300;

export interface ShareParts extends ExportParts {
  /** A statement of the log's present state; undefined where it cannot be signed. */
  readonly seal: () => Promise<Seal | undefined>;
  readonly nowMs: () => number;
}

export async function* exportShare(
  parts: ShareParts,
  { query, head }: { readonly query: ExportQuery; readonly head: Head },
): AsyncGenerator<string> {
  const session_id = query.filter.session_id ?? "";
  const { survey, title, facts } = await surveyed(parts, { query, head });
  const seal = await parts.seal();
  const top: SharedHead = {
    hansard_share: SHARE_VERSION,
    log_id: head.log_id,
    session_id,
    title,
    facts,
    shared_at: new Date(parts.nowMs()).toISOString(),
    position: head.position,
    hash: hexOf(head.hash),
    ...(seal === undefined ? {} : { seal }),
  };
  yield pageTop(top);
  const fragments = new Fragments(parts.mask, survey);
  const entries: SharedEntry[] = [];
  let chars = 0;
  for await (const stored of selectEntries(parts, { filter: query.filter, head })) {
    const { position, kind, recorded_at } = stored;
    const about = { position, kind, recorded_at, hash: hexOf(stored.hash) };
    const entry = chars < SHOWN_CHARS_MAX ? readable(stored) : undefined;
    const article = entry === undefined ? undefined : fragments.of(entry);
    if (article === undefined || chars + article.length > SHOWN_CHARS_MAX) {
      if (article !== undefined) chars = SHOWN_CHARS_MAX;
      entries.push(about);
      continue;
    }
    chars += article.length;
    entries.push({ ...about, shown: shownHash(article) });
    yield article;
  }
  yield pageBottom({ ...top, entries });
}

interface Surveyed {
  readonly survey: Survey;
  readonly title: string;
  readonly facts: readonly string[];
}

/** A first pass over all entries: what later ones say about earlier ones, and what the head says. */
async function surveyed(
  parts: ExportParts,
  { query, head }: { readonly query: ExportQuery; readonly head: Head },
): Promise<Surveyed> {
  const survey = { calls: new Set<string>(), withdrawn: new Set<number>(), answered: new Set<string>() };
  const figures = new Figures();
  let [title, opening] = ["", ""];
  for await (const stored of selectEntries(parts, { filter: query.filter, head })) {
    const entry = readable(stored);
    if (entry === undefined) continue;
    if (entry.kind === "tool_call" && entry.tool_call_id !== "") survey.calls.add(entry.tool_call_id);
    if (entry.kind === "withdrawal") survey.withdrawn.add(entry.withdraws);
    if (entry.kind === "response") survey.answered.add(entry.interaction_id);
    if (entry.kind === "session_info" && entry.title !== "") title = entry.title;
    if (opening === "" && isPrompt(entry)) opening = openingOf(entry);
    figures.add(entry);
  }
  const mask = (text: string, charsMax: number): string => beginningOf(parts.mask.text(text), charsMax);
  return {
    survey,
    title: mask((title || opening).slice(0, OPENING_CHARS_MAX), TITLE_CHARS_MAX),
    facts: figures.lines().map((line) => mask(line, FACT_CHARS_MAX)),
  };
}

/** More names than these are not listed. */
const NAMES_MAX = 10;

class Figures {
  readonly #names = { projects: new Set<string>(), clients: new Set<string>(), models: new Set<string>() };
  #first = "";
  #last = "";
  #prompts = 0;
  #calls = 0;
  #failures = 0;

  add(entry: Entry): void {
    const { created_at, project, client, extra } = entry;
    if (this.#first === "" || created_at < this.#first) this.#first = created_at;
    if (created_at > this.#last) this.#last = created_at;
    if (isPrompt(entry)) this.#prompts += 1;
    if (entry.kind === "tool_call") this.#calls += 1;
    if (isFailure(entry)) this.#failures += 1;
    const model = entry.kind === "interaction" || entry.kind === "response" ? entry.model : extra.model;
    const given = { projects: project, clients: client, models: typeof model === "string" ? model : "" };
    for (const name of ["projects", "clients", "models"] as const) {
      const known = this.#names[name];
      if (given[name] !== "" && known.size < NAMES_MAX) known.add(given[name]);
    }
  }

  lines(): readonly string[] {
    if (this.#first === "") return [];
    const names = Object.values(this.#names).map((known) => [...known].join(", "));
    const minute = (time: string): string => time.slice(0, 16).replace("T", " ");
    const isOneDay = this.#first.slice(0, 10) === this.#last.slice(0, 10);
    const time = `${minute(this.#first)} to ${isOneDay ? this.#last.slice(11, 16) : minute(this.#last)} UTC`;
    const failures = this.#failures === 0 ? [] : [counted(this.#failures, "failure")];
    const counts = [counted(this.#prompts, "prompt"), counted(this.#calls, "call"), ...failures];
    return [[...names, time].filter((text) => text !== "").join(" · "), counts.join(" · ")];
  }
}

/** A command of the tool says little about a session. */
function openingOf(entry: Entry): string {
  const said = entry.kind === "interaction" ? entry.prompt : entry.kind === "message" ? messageText(entry) : "";
  const text = said.slice(0, OPENING_CHARS_MAX).replace(/\s+/g, " ").trim();
  return text.startsWith("/") ? "" : text;
}

/** Cut between characters. */
function beginningOf(text: string, charsMax: number): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= charsMax ? line : `${line.slice(0, charsMax).replace(/[\ud800-\udbff]$/, "")}…`;
}

function isFailure(entry: Entry): boolean {
  if (entry.kind === "tool_call") return entry.is_error === true;
  return entry.kind === "error" || (entry.kind === "interaction" && entry.error !== "");
}

function isPrompt(entry: Entry): boolean {
  return entry.kind === "interaction" || (entry.kind === "message" && entry.role === "user" && entry.injected === "");
}

function counted(count: number, noun: string): string {
  return `${count.toLocaleString("en-US")} ${noun}${count === 1 ? "" : "s"}`;
}
