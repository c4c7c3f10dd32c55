// What a shared page shows of each entry: one article, its text masked, escaped and bounded.
import { valueText } from "../../model/content.js";
import { type ContentPart, givenText, messageParts } from "../../model/content-parts.js";
import { applyByKind, type ByKind, type Entry, type EntryOf } from "../../model/entry.js";
import { isJsonObject, type JsonObject, type JsonValue, parseJsonObject } from "../../model/json.js";
import { isJsonLarger } from "../../model/json-size.js";
import type { Mask } from "../../model/mask.js";
import { readRole } from "../../model/roles.js";
import { isShellTool, typedCommand } from "../../model/shell-command.js";
import { escapeHtml, markdownHtml, plainHtml } from "./html.js";

/** Of a longer text the beginning is shown. */
const TEXT_CHARS_MAX = 50_000;
/** So much more is masked, because a secret may lie across the end. */
const MASK_CHARS_BEYOND = 64 * 1024;
/** All texts of one entry, and what of it is read as Markdown: both take time while others wait. */
const ENTRY_CHARS_MAX = 200_000;
const ENTRY_MARKDOWN_CHARS_MAX = 40_000;
/** Larger values are masked as text, without the names of their fields. */
const VALUE_BYTES_MAX = 256 * 1024;
const SUMMARY_CHARS_MAX = 240;
/** Parts and calls of one message beyond these are counted. */
const PARTS_MAX = 200;
/** A larger image is named, and all images together take no more than this. */
const IMAGE_CHARS_MAX = 2 * 1024 * 1024;
const IMAGES_CHARS_MAX = 8 * 1024 * 1024;
const IMAGE = /^data:image\/(?:png|jpeg|gif|webp);base64,(?:iVBORw0KGgo|\/9j\/|R0lGOD|UklGR)[A-Za-z0-9+/]*={0,2}$/;

/** What has to be known of all entries before the first is shown. */
export interface Survey {
  /** Calls with an entry of their own. */
  readonly calls: ReadonlySet<string>;
  readonly withdrawn: ReadonlySet<number>;
  /** Answers that came later, by the id of their interaction. */
  readonly answered: ReadonlySet<string>;
}

interface Article {
  readonly kind: string;
  readonly html: string;
}

export class Fragments {
  readonly #mask: Mask;
  readonly #survey: Survey;
  #imageChars = 0;
  #chars = 0;
  #markdownChars = 0;
  #turns = 0;
  /** Who spoke last in this turn, and on which day. */
  #speaker = "";
  #day = "";

  constructor(mask: Mask, survey: Survey) {
    this.#mask = mask;
    this.#survey = survey;
  }

  /** One article; undefined for entries that are no part of the conversation. */
  of(entry: Entry): string | undefined {
    this.#chars = 0;
    this.#markdownChars = 0;
    const made = applyByKind(this.#byKind, entry);
    if (made === undefined) return undefined;
    const { position } = entry;
    const isWithdrawn = this.#survey.withdrawn.has(position);
    const label = isWithdrawn ? '<p class="label">Message removed from the context</p>' : "";
    return `<article id="e${position}" class="${made.kind}${isWithdrawn ? " withdrawn" : ""}">${label}${made.html}</article>\n`;
  }

  readonly #byKind: ByKind<Entry, Article | undefined> = {
    interaction: (entry) => {
      const head = this.#label(entry, this.#turn());
      const prompt = `${head}<div class="speech">${this.#plain(entry.prompt)}</div>`;
      return { kind: "prompt", html: prompt + this.#answer(entry) };
    },
    response: (entry) => ({ kind: "answer", html: this.#label(entry, "Answer") + this.#answer(entry) }),
    message: (entry) => this.#message(entry),
    tool_call: (entry) => ({ kind: "call", html: this.#call(entry) }),
    error: (entry) => {
      const context = entry.context === "" ? "" : `<p class="more">${this.#text(entry.context)}</p>`;
      const html = `${this.#label(entry, "Error")}<div class="mark">${this.#plain(entry.error)}${context}</div>`;
      return { kind: "error", html };
    },
    decision: (entry) => {
      const why = entry.rationale === "" ? "" : `<p class="more">${this.#text(entry.rationale)}</p>`;
      const html = `${this.#label(entry, "Decision")}<div class="mark">${this.#plain(entry.decision)}${why}</div>`;
      return { kind: "decision", html };
    },
    consolidation: (entry) => {
      const tokens = entry.tokens_before === undefined ? "" : `: ${count(entry.tokens_before)} tokens before`;
      const summary = this.#note("The summary", entry, entry.summary);
      return { kind: "compaction", html: `<p class="line">Compacted here${tokens}</p>${summary}` };
    },
    clear: () => ({ kind: "clear", html: '<p class="line">Context cleared</p>' }),
    feedback: (entry) => {
      const score = entry.score === undefined ? "" : ` ${entry.score}`;
      const words = [entry.label, entry.comment].filter((text) => text !== "").join(": ");
      return {
        kind: "feedback",
        html: `${this.#label(entry, `Feedback${score}`)}<p class="more">${this.#text(words)}</p>`,
      };
    },
    withdrawal: () => undefined,
    session_info: () => undefined,
    raw: () => undefined,
    audit: () => undefined,
    redaction: () => undefined,
    memory_proposed: () => undefined,
    memory_edited: () => undefined,
    memory_promoted: () => undefined,
    memory_rejected: () => undefined,
    memory_superseded: () => undefined,
    memory_reinforced: () => undefined,
  };

  #turn(): string {
    this.#turns += 1;
    this.#speaker = "";
    return `${this.#turns} · User`;
  }

  #message(entry: EntryOf<"message">): Article {
    const role = readRole(entry.role);
    if (entry.injected !== "") {
      const from = role === "user" ? "Added by the agent" : "Instructions";
      return { kind: "injected", html: this.#note(`${from} (${entry.injected})`, entry, this.#wordsOf(entry)) };
    }
    if (role === "system") return { kind: "system", html: this.#note("System prompt", entry, this.#wordsOf(entry)) };
    if (role === "tool") return { kind: "call", html: this.#note("Tool result", entry, this.#wordsOf(entry)) };
    const parts = this.#parts(entry);
    if (role === "user") {
      const html = parts.map((part) => this.#part(part, (text) => this.#plain(text))).join("");
      return { kind: "prompt", html: `${this.#label(entry, this.#turn())}<div class="speech">${html}</div>` };
    }
    const thoughts = this.#thoughts(entry.extra);
    const said = parts.map((part) => this.#part(part, (text) => this.#markdown(text))).join("");
    const speech = said === "" ? "" : `<div class="speech">${said}</div>`;
    const low = (entry.confidence ?? 1) < 0.5 ? ` · low confidence ${entry.confidence}` : "";
    const model = typeof entry.extra.model === "string" && entry.extra.model !== "" ? ` · ${entry.extra.model}` : "";
    const name = `Assistant${model}`;
    const isAgain = name === this.#speaker && low === "";
    if (speech !== "") this.#speaker = name;
    const head = speech === "" ? "" : this.#label(entry, `${name}${low}`, isAgain);
    return { kind: "answer", html: `${thoughts}${head}${speech}` };
  }

  /** The parts of a message that are shown here: calls with an entry of their own are shown there. */
  #parts(entry: EntryOf<"message">): readonly ContentPart[] {
    const isShown = (call: JsonObject): boolean => !this.#survey.calls.has(String(call.id));
    const tool_calls = entry.tool_calls.filter(isShown);
    const content = Array.isArray(entry.content)
      ? entry.content.filter((part) => isOwnPart(part, isShown))
      : entry.content;
    const all = messageParts({ content, tool_calls });
    if (all.length <= PARTS_MAX) return all;
    const left = `${count(all.length - PARTS_MAX)} more parts are in the record`;
    return [...all.slice(0, PARTS_MAX), { is: "thing", text: left }];
  }

  #part(part: ContentPart, speak: (text: string) => string): string {
    switch (part.is) {
      case "text":
        return part.text.trim() === "" ? "" : speak(part.text);
      case "thought":
        return this.#details("Thinking", part.text);
      case "call": {
        const args = isJsonObject(part.given) ? part.given : (parseJsonObject(String(part.given ?? "")) ?? {});
        const { name, what, details } = this.#called(part.name, args, givenText(part.given));
        return row({ name, what, how: "no result", details, at: "" });
      }
      case "result":
        return this.#details(part.failed ? "Failed result" : "Result", part.text);
      case "thing":
        return this.#thing(part);
    }
  }

  /** An image that a browser shows without asking anybody; anything else by its name. */
  #thing({ text, image }: Extract<ContentPart, { is: "thing" }>): string {
    const isShown =
      image !== undefined &&
      image.length <= IMAGE_CHARS_MAX &&
      this.#imageChars + image.length <= IMAGES_CHARS_MAX &&
      IMAGE.test(image);
    if (!isShown) return `<p class="more">${this.#text(text)}</p>`;
    this.#imageChars += image.length;
    return `<img src="${image}" alt="${this.#text(text)}">`;
  }

  #answer(entry: EntryOf<"interaction"> | EntryOf<"response">): string {
    const { response, error } = entry;
    const failed = error === "" ? "" : `<p class="why">${this.#text(error)}</p>`;
    if (response === "") {
      const isWaiting = entry.kind === "interaction" && error === "" && !this.#survey.answered.has(entry.id);
      return failed + (isWaiting ? '<p class="more">No answer was recorded.</p>' : "");
    }
    return `${failed}<div class="speech">${this.#markdown(response)}</div>`;
  }

  #thoughts({ reasoning_content: words, thinking_blocks: blocks }: JsonObject): string {
    const texts = Array.isArray(blocks)
      ? blocks.flatMap((one) => (isJsonObject(one) && typeof one.thinking === "string" ? [one.thinking] : []))
      : [];
    if (typeof words === "string") texts.unshift(words);
    const text = texts.join("\n\n");
    return text.trim() === "" ? "" : this.#details("Thinking", text);
  }

  /** A tool call: what was done, how it ended, and on opening both in full. */
  #call(entry: EntryOf<"tool_call">): string {
    const { tool, args, result, is_error = false, duration_ms } = entry;
    const said = this.#value(result);
    const lines = said === "" ? 0 : said.split("\n").length;
    const time = duration_ms === undefined ? "" : duration(duration_ms);
    const ending = is_error ? '<span class="failed">✗ failed</span>' : lines > 1 ? `${count(lines)} lines` : "";
    const how = [ending, time].filter((part) => part !== "").join(" · ");
    const { name, what, details: given } = this.#called(tool, args, givenText(args));
    const details = `${given}${said === "" ? "" : `<h3>Result</h3><pre>${this.#cut(said)}</pre>`}`;
    const html = row({ name, what, how, details, at: anchor(entry) });
    return is_error ? `${html}<p class="why">${this.#line(errorLine(said))}</p>` : html;
  }

  /** What was called, in one line and in full. */
  #called(
    tool: string,
    args: JsonObject,
    whole: string,
  ): { readonly name: string; readonly what: string; readonly details: string } {
    const command = isShellTool(tool) ? typedCommand(args) : undefined;
    const name = command === undefined ? this.#line(tool) : "$";
    const what = this.#line(command ?? subjectOf(args));
    const change = changes(args);
    if (change === undefined) return { name, what, details: `<pre>${this.#text(command ?? whole)}</pre>` };
    const removed = change.removed === "" ? "" : `<del>${this.#text(change.removed)}</del>`;
    const added = change.added === "" ? "" : `<ins>${this.#text(change.added)}</ins>`;
    return { name, what, details: `<pre>${removed}${added}</pre>` };
  }

  #note(title: string, entry: Entry, text: string): string {
    const size = text.length > 400 ? `, ${count(text.length)} characters` : "";
    return `<details class="note"><summary>${escapeHtml(title)}${size}${anchor(entry)}</summary><pre>${this.#text(text)}</pre></details>`;
  }

  #details(title: string, text: string): string {
    return `<details class="note"><summary>${this.#line(title)}</summary><pre>${this.#text(text)}</pre></details>`;
  }

  /** Who speaks, when, and which entry it is; `isAgain` if the same one goes on. */
  #label(entry: Entry, words: string, isAgain = false): string {
    const { created_at, extra } = entry;
    const day = created_at.slice(0, 10);
    const time = created_at.slice(11, 16);
    const shown = extra.time_is === "file" ? "" : day === this.#day ? time : `${day} ${time}`;
    if (shown !== "") this.#day = day;
    const at = shown === "" ? "" : ` <time datetime="${escapeHtml(created_at)}">${escapeHtml(shown)}</time>`;
    return `<h2 class="label${isAgain ? " again" : ""}"><b>${this.#line(words)}</b>${at}${anchor(entry)}</h2>`;
  }

  #wordsOf(entry: EntryOf<"message">): string {
    return this.#parts(entry)
      .map((part) => ("text" in part ? part.text : `calls ${part.name} ${givenText(part.given)}`))
      .join("\n");
  }

  #plain(text: string): string {
    const { shown, more } = this.#masked(text);
    return plainHtml(shown) + more;
  }

  #markdown(text: string): string {
    const { shown, more } = this.#masked(text);
    this.#markdownChars += shown.length;
    return (this.#markdownChars > ENTRY_MARKDOWN_CHARS_MAX ? plainHtml(shown) : markdownHtml(shown)) + more;
  }

  #text(text: string): string {
    const { shown, more } = this.#masked(text);
    return escapeHtml(shown) + (more === "" ? "" : " …");
  }

  /** A text that is masked already. */
  #cut(masked: string): string {
    if (masked.length <= TEXT_CHARS_MAX) return escapeHtml(masked);
    const left = count(masked.length - TEXT_CHARS_MAX);
    return `${escapeHtml(masked.slice(0, TEXT_CHARS_MAX))} … (${left} more characters are in the record)`;
  }

  #line(text: string): string {
    const { shown } = this.#masked(text);
    const line = shown.replace(/\s+/g, " ").trim();
    return escapeHtml(line.length > SUMMARY_CHARS_MAX ? `${line.slice(0, SUMMARY_CHARS_MAX)}…` : line);
  }

  #masked(text: string): { readonly shown: string; readonly more: string } {
    const charsMax = Math.min(TEXT_CHARS_MAX, Math.max(0, ENTRY_CHARS_MAX - this.#chars));
    this.#chars += Math.min(text.length, charsMax);
    if (text.length <= charsMax) return { shown: this.#mask.text(text), more: "" };
    const left = `${count(text.length - charsMax)} more characters are in the record`;
    const more = `<p class="more">${left}</p>`;
    if (charsMax === 0) return { shown: "", more };
    const masked = this.#mask.text(text.slice(0, charsMax + MASK_CHARS_BEYOND));
    return { shown: masked.slice(0, charsMax), more };
  }

  /** A result, masked by the names of its fields where it is not too large. */
  #value(value: JsonValue): string {
    if (typeof value === "string") return this.#masked(value).shown;
    if (isJsonLarger(value, VALUE_BYTES_MAX)) return this.#masked(valueText(value)).shown;
    const masked = this.#mask.value(value);
    const parts = Array.isArray(masked) ? messageParts({ content: masked }) : [];
    const isContent =
      parts.length > 0 &&
      parts.every((part) => part.is === "text" || (part.is === "thing" && part.image !== undefined));
    if (isContent) return parts.map((part) => ("text" in part ? part.text : "")).join("\n");
    return typeof masked === "string" ? masked : JSON.stringify(masked, null, 2);
  }
}

/** Whether a part is shown with the message: a call that has an entry of its own is not. */
function isOwnPart(part: JsonValue, isShown: (call: JsonObject) => boolean): boolean {
  return !isJsonObject(part) || part.type !== "tool_use" || isShown(part);
}

function anchor({ position, hash }: Entry): string {
  return `<a class="at" href="#e${position}" title="Entry ${position}, SHA-256 ${escapeHtml(hash)}">${position}</a>`;
}

/** The argument by which a person knows the call. */
function subjectOf(args: JsonObject): string {
  const named = [
    "file_path",
    "path",
    "notebook_path",
    "filename",
    "pattern",
    "query",
    "q",
    "url",
    "description",
    "prompt",
    "title",
  ];
  const name = named.find((one) => typeof args[one] === "string" && args[one] !== "");
  if (name !== undefined) return String(args[name]);
  const first = Object.values(args).find((value) => typeof value === "string" && value !== "");
  return typeof first === "string" ? first : givenText(args);
}

/** One line that opens; all of it is HTML. */
function row(parts: { readonly [name in "name" | "what" | "how" | "details" | "at"]: string }): string {
  const { name, what, how, details, at } = parts;
  const line = `<span class="tool">${name}</span><span class="what">${what}</span><span class="how">${how}</span>${at}`;
  return `<details class="row${how.includes("failed") ? " bad" : ""}"><summary>${line}</summary>${details}</details>`;
}

/** What an edit took out and put in. */
function changes(args: JsonObject): { readonly removed: string; readonly added: string } | undefined {
  const { old_string: removed, new_string: added, content } = args;
  if (typeof removed === "string" && typeof added === "string") return { removed, added };
  const isFile = typeof args.file_path === "string" || typeof args.path === "string";
  return isFile && typeof content === "string" ? { removed: "", added: content } : undefined;
}

/** The line of a failed result that says most: the last one that speaks of an error, else the last one. */
function errorLine(text: string): string {
  const document = parseJsonObject(text);
  const said = typeof document?.error === "string" ? document.error : text;
  const lines = said.split("\n").filter((line) => line.trim() !== "");
  return lines.findLast((line) => /error|fail|not found|cannot|denied|no such/i.test(line)) ?? lines.at(-1) ?? "";
}

function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  return ms < 60_000 ? `${(ms / 1_000).toFixed(1)} s` : `${Math.round(ms / 60_000)} min`;
}

function count(number: number): string {
  return number.toLocaleString("en-US");
}
