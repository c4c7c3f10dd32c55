// The two streams a command writes to, and the cleaning of recorded text on its way there.
import { homedir } from "node:os";
import { stripVTControlCharacters } from "node:util";
import pico from "picocolors";

export type Colours = ReturnType<typeof pico.createColors>;

/** Standard output or standard error, and what it can show. */
export interface Pane {
  readonly isTerminal: boolean;
  /** Width of the terminal; undefined where there is none, and nothing has to be cut. */
  readonly columns: number | undefined;
  readonly colours: Colours;
  write(text: string): void;
}

export interface Screen {
  readonly out: Pane;
  readonly err: Pane;
}

const NARROWEST_COLUMNS = 40;

export function openScreen(): Screen {
  return { out: toPane(process.stdout), err: toPane(process.stderr) };
}

function toPane(stream: NodeJS.WriteStream): Pane {
  const isTerminal = stream.isTTY === true;
  const isPlain = (process.env.NO_COLOR ?? "") !== "" || process.env.TERM === "dumb";
  stream.on("error", (error: NodeJS.ErrnoException) => {
    // The reader has seen enough (`| head`). What is under way still ends in order: a batch half sent is worse.
    if (error.code === "EPIPE") return;
    process.exitCode = 1;
    if (stream !== process.stderr) process.stderr.write(`error: the output cannot be written: ${error.message}\n`);
  });
  return {
    isTerminal,
    // Asked for anew each time: a window may be made wider or narrower while a command goes on.
    get columns() {
      return isTerminal ? Math.max(stream.columns ?? 80, NARROWEST_COLUMNS) : undefined;
    },
    colours: pico.createColors(isTerminal && !isPlain),
    write: (text) => void stream.write(text),
  };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: finding control characters is its purpose.
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
/** Characters that turn the order of the text around them, or hide where it ends. */
const DIRECTIONS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;
/** What JSON leaves unescaped although a terminal may obey it. */
const OBEYED_IN_JSON = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** Recorded text is data: no sequence in it may steer the terminal. Line breaks and tabs stay. */
export function cleanText(text: string): string {
  const unbroken = text.replace(/\r\n?|[\u2028\u2029\u0085]/g, "\n");
  return stripVTControlCharacters(unbroken).replace(CONTROLS, "").replace(DIRECTIONS, "").toWellFormed();
}

/** The same on one line, looking no further than a line can show. */
export function cleanLine(text: string, charsMax = 2_000): string {
  return cleanText(beginningOf(text, charsMax)).replace(/\s+/g, " ").trim();
}

/** A grapheme that is longer than this is no character that anybody wrote. */
const GRAPHEME_CHARS_MAX = 200;

/** The beginning of a text that is no longer than this, without half a character at its end. */
export function beginningOf(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  const from = Math.max(0, charsMax - GRAPHEME_CHARS_MAX);
  const around = graphemes.segment(text.slice(from, charsMax + GRAPHEME_CHARS_MAX)).containing(charsMax - from);
  return text.slice(0, around === undefined || around.index === 0 ? charsMax : from + around.index);
}

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** A JSON document, indented for people and on one line for programs. Escaping keeps it the same document. */
export function documentText(value: unknown, pane: Pane): string {
  const text = JSON.stringify(value, null, pane.isTerminal ? 2 : undefined);
  return `${escapeObeyed(text)}\n`;
}

export function escapeObeyed(json: string): string {
  return json.replace(OBEYED_IN_JSON, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** A line on a terminal's stderr that says what is going on and is gone afterwards. */
export class ProgressLine {
  readonly #pane: Pane;
  #shown = false;

  constructor(pane: Pane) {
    this.#pane = pane;
  }

  show(text: string): void {
    if (!this.#pane.isTerminal) return;
    // A line that wraps could not be taken back.
    const line = beginningOf(text, (this.#pane.columns ?? text.length + 1) - 1);
    this.#pane.write(`\r\u001b[2K${this.#pane.colours.dim(line)}`);
    this.#shown = true;
  }

  clear(): void {
    if (this.#shown) this.#pane.write("\r\u001b[2K");
    this.#shown = false;
  }
}

/** A path as people write it: from their home on, which leaves more room for the end that tells it from others. */
export function pathText(path: string): string {
  const home = `${homedir()}/`;
  return cleanLine(path.startsWith(home) ? `~/${path.slice(home.length)}` : path);
}
