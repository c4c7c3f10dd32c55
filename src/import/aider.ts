// Aider's chat history: Markdown that many launches are appended to. Only launches have times, and nothing has an id.
import { dirname, resolve } from "node:path";
import type { JsonObject } from "../model/json.js";
import type { Usage } from "../model/usage.js";
import { hashedId } from "./identity.js";
import type { ImportStep, SourceOf, TextImporter } from "./importer.js";
import type { AnswerPart } from "./transcript/model-answer.js";
import { type Origin, Transcript, type TranscriptSession } from "./transcript/transcript.js";

const tool = { format: "aider", lacks: ["system prompt", "rules files", "tool definitions"] };

const LAUNCH = /^# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*$/;
/** What the user typed, and what the tool says: both end in two spaces. An answer may have headings and quotes of its own. */
const TYPED = /^#### (.*?) {2}$/;
const NOTED = /^> (.*?) {2}$/;
const FENCE = /^\s*(`{3,}|~{3,})/;
const TOKENS = /^Tokens: ([\d.]+[kM]?) sent(?:, (.*?))?, ([\d.]+[kM]?) received\.(?: Cost: \$([\d.]+) message)?/;
const MODEL = /^(?:Main model|Model): (\S+)/;
const VERSION = /^Aider v(\S+)/;
const FAILED = /^(?:litellm\.)?\w*(?:Error|Exception)\b/;
/** Where an answer was broken off, whatever was open in it. */
const BROKEN_OFF = /^(?:\^C|KeyboardInterrupt|Tokens: )/;
const SHELL = /^(?:!|\/run\s)\s*([\s\S]*)$/;
const THOUGHT = /<(thinking-content-\w{1,64})>/;
/** An answer or a list of notes is cut here. */
const CHARS_MAX = 32 * 1024 * 1024;

export const aiderImporter: TextImporter = {
  format: tool.format,
  reads: "text",
  recognises: ({ bytes }) => {
    const opening = Buffer.from(bytes.subarray(0, 4_096)).toString("utf8");
    return opening
      .replace(/^\ufeff/, "")
      .split("\n")
      .some((line, nth) => nth < 3 && LAUNCH.test(line));
  },
  read,
};

async function* read(source: SourceOf<"text">): AsyncGenerator<Iterable<ImportStep>> {
  const history = new History(source);
  for await (const lines of source.texts()) yield takeAll(history, lines);
  yield history.end();
}

function* takeAll(
  history: History,
  lines: Iterable<
    { readonly line: number; readonly text: string } | { readonly line: number; readonly reason: string }
  >,
): Generator<ImportStep> {
  for (const item of lines) {
    if ("reason" in item) yield item;
    else yield* history.take(item.line, item.text);
  }
}

class History {
  readonly #transcript: Transcript;
  readonly #source: SourceOf<"text">;
  readonly #launches = new Map<string, number>();
  #launch: Launch | undefined;
  #started: string | undefined;

  constructor(source: SourceOf<"text">) {
    this.#transcript = new Transcript(tool, source);
    this.#source = source;
  }

  *take(line: number, text: string): Generator<ImportStep> {
    const [, started] = LAUNCH.exec(text) ?? [];
    if (started !== undefined) {
      if (this.#launch !== undefined) yield* this.#launch.end(line, false);
      this.#launch = undefined;
      this.#started = started;
      return;
    }
    // What a launch is known by is its time and the command line, which comes first.
    if (this.#launch === undefined && this.#started !== undefined && text.trim() !== "") {
      this.#launch = this.#begin(this.#started, text);
      yield* this.#launch.about(line);
    }
    if (this.#launch !== undefined) yield* this.#launch.take(line, text);
  }

  *end(): Generator<ImportStep> {
    if (this.#launch !== undefined) yield* this.#launch.end(0, this.#source.isGrowing());
  }

  #begin(started: string, first: string): Launch {
    const name = hashedId(tool.format, ["launch", started, first]).slice(tool.format.length + 1);
    const times = (this.#launches.get(name) ?? 0) + 1;
    this.#launches.set(name, times);
    const key = `aider-${started.replace(/\D/g, "")}-${name.slice(0, 12)}${times === 1 ? "" : `-${times}`}`;
    const folder = this.#source.path === "-" ? undefined : dirname(resolve(this.#source.path));
    return new Launch(this.#transcript.session(key), { at: started, folder });
  }
}

type Block = "typed" | "answer" | "notes";

class Launch {
  readonly #session: TranscriptSession;
  readonly #at: string;
  readonly #folder: string | undefined;
  #block: { kind: Block; line: number; lines: string[]; chars: number } | undefined;
  #fence: string | undefined;
  #hasPrompt = false;
  #model: string | undefined;
  #version: string | undefined;
  /** A command for the shell, whose notes follow. */
  #shell: { readonly line: number; readonly command: string } | undefined;

  constructor(
    session: TranscriptSession,
    { at, folder }: { readonly at: string; readonly folder: string | undefined },
  ) {
    this.#session = session;
    this.#at = at;
    this.#folder = folder;
  }

  about(line: number): Generator<ImportStep> {
    return this.#session.about({ line, at: this.#at }, { cwd: this.#folder, version: this.#version });
  }

  *take(line: number, text: string): Generator<ImportStep> {
    const note = NOTED.exec(text)?.[1];
    if (this.#fence !== undefined && (note === undefined || !BROKEN_OFF.test(note))) {
      yield* this.#add("answer", line, text);
      if (text.trim() === this.#fence) this.#fence = undefined;
      return;
    }
    this.#fence = undefined;
    const typed = TYPED.exec(text)?.[1];
    if (typed !== undefined) {
      this.#hasPrompt = true;
      yield* this.#add("typed", line, typed);
    } else if (note !== undefined) yield* this.#add("notes", line, note);
    // A command line may have line breaks.
    else if (!this.#hasPrompt) yield* text.trim() === "" ? [] : this.#add("notes", line, text);
    else {
      const [, fence] = FENCE.exec(text) ?? [];
      const isBlank = text.trim() === "";
      // Two prompts are apart, the lines of one are not.
      if (isBlank && this.#block?.kind === "typed") yield* this.#closeBlock(undefined);
      if (!isBlank || this.#block?.kind === "answer") yield* this.#add("answer", line, text);
      this.#fence = fence;
    }
  }

  /** @param isGrowing Whether the last answer may not be complete. */
  *end(line: number, isGrowing: boolean): Generator<ImportStep> {
    if (isGrowing && this.#block?.kind === "answer") return;
    yield* this.#closeBlock(undefined);
    yield* this.#closeShell(line, []);
    yield* this.#session.close();
  }

  *#add(kind: Block, line: number, text: string): Generator<ImportStep> {
    if (this.#block?.kind !== kind) yield* this.#closeBlock(kind);
    this.#block ??= { kind, line, lines: [], chars: 0 };
    this.#block.chars += text.length + 1;
    if (this.#block.chars <= CHARS_MAX) this.#block.lines.push(text);
  }

  *#closeBlock(next: Block | undefined): Generator<ImportStep> {
    const block = this.#block;
    this.#block = undefined;
    if (block === undefined) return;
    const { kind, line, lines } = block;
    if (kind === "typed") yield* this.#typed(line, lines.join("\n"), next);
    else if (kind === "notes") yield* this.#notes(line, lines);
    else yield* this.#answer(line, lines.join("\n"));
  }

  *#typed(line: number, text: string, next: Block | undefined): Generator<ImportStep> {
    yield* this.#session.close();
    yield* this.#closeShell(line, []);
    const words = text.trim() === "<blank>" ? "" : text.trim();
    const [, command] = SHELL.exec(words) ?? [];
    if (command !== undefined) {
      this.#shell = { line, command: command.trim() };
      // Without notes on it, nothing is known of what it printed.
      if (next !== "notes") yield* this.#closeShell(line, []);
      return;
    }
    if (words === "") return;
    const [, name, args = ""] = /^(\/[\w-]+)(?:\s+([\s\S]*))?$/.exec(words) ?? [];
    const extra = name === undefined ? {} : { command: { name, args, text: words } };
    yield this.#session.message(this.#origin(line, ["user", words], extra), { role: "user", content: words });
  }

  *#answer(line: number, text: string): Generator<ImportStep> {
    yield* this.#session.close();
    const { words, thoughts } = withoutThoughts(text);
    const content = words.replace(/^(?:[ \t]*\n)+/, "").trimEnd();
    if (content === "" && thoughts.length === 0) return;
    const parts: AnswerPart[] = thoughts.map((thinking) => ({ id: "0", thinking }));
    const origin = this.#origin(line, ["assistant", content, ...thoughts]);
    yield* this.#session.say("answer", origin, {
      line,
      at: this.#at,
      parts: [...parts, { id: "0", text: content }],
      model: this.#model,
      extra: { time_is: "file" },
    });
  }

  *#notes(line: number, lines: readonly string[]): Generator<ImportStep> {
    const kept: string[] = [];
    for (const note of lines) {
      const [, sent, cached, received, cost] = TOKENS.exec(note) ?? [];
      this.#model = MODEL.exec(note)?.[1] ?? this.#model;
      const version = VERSION.exec(note)?.[1];
      if (version !== undefined && version !== this.#version) {
        this.#version = version;
        yield* this.about(line);
      }
      if (sent !== undefined && received !== undefined) {
        const spent = { ...usageOf(sent, cached ?? "", received) };
        const isSaid = this.#session.amend((said) => ({
          ...said,
          usage: spent,
          // Figures of more than three digits are rounded.
          extra: { ...said.extra, usage_is: "rounded", ...(cost === undefined ? {} : { cost: Number(cost) }) },
        }));
        if (isSaid) continue;
      }
      if (FAILED.test(note)) {
        yield* this.#session.close();
        yield this.#session.error(this.#origin(line, ["error", note]), note, this.#model);
      } else kept.push(note);
    }
    yield* this.#session.close();
    if (this.#shell !== undefined) yield* this.#closeShell(line, kept);
    else if (kept.length > 0) yield this.#session.raw(this.#origin(line, ["notes", kept]), { notes: kept });
  }

  /** What the command printed is not in the file; the notes on it are. */
  *#closeShell(line: number, notes: readonly string[]): Generator<ImportStep> {
    const shell = this.#shell;
    this.#shell = undefined;
    if (shell === undefined) return;
    const origin = this.#origin(shell.line || line, ["shell", shell.command], { has_output: false });
    yield this.#session.result({
      ...origin,
      call_id: "",
      tool: "!",
      args: { command: shell.command },
      result: notes.join("\n"),
    });
  }

  /** Everything of a launch has its time, which is no time of its own. */
  #origin(line: number, identity: readonly unknown[], extra: JsonObject = {}): Origin {
    return { line, at: this.#at, identity, is_restamped: true, extra: { ...extra, time_is: "file" } };
  }
}

/** The thoughts in a text, which stand between tags, and the rest of it. */
function withoutThoughts(text: string): { readonly words: string; readonly thoughts: readonly string[] } {
  const thoughts: string[] = [];
  let words = "";
  let rest = text;
  for (let found = THOUGHT.exec(rest); found !== null; found = THOUGHT.exec(rest)) {
    const from = found.index + found[0].length;
    const close = `</${found[1]}>`;
    const to = rest.indexOf(close, from);
    if (to === -1) break;
    thoughts.push(rest.slice(from, to).trim());
    words += rest.slice(0, found.index);
    rest = rest.slice(to + close.length);
  }
  return { words: words + rest, thoughts };
}

function usageOf(sent: string, cached: string, received: string): Usage {
  const part = (name: string): number => countOf(new RegExp(`([\\d.]+[kM]?) ${name}`).exec(cached)?.[1] ?? "0");
  const [read, written] = [part("cache hit"), part("cache write")];
  return {
    input_tokens: countOf(sent),
    output_tokens: countOf(received),
    ...(read === 0 ? {} : { cache_read_tokens: read }),
    ...(written === 0 ? {} : { cache_write_tokens: written }),
  };
}

function countOf(text: string): number {
  const scale = text.endsWith("k") ? 1_000 : text.endsWith("M") ? 1_000_000 : 1;
  const count = Math.round(Number.parseFloat(text) * scale);
  return Number.isSafeInteger(count) ? count : 0;
}
