// The two streams a command writes to, and cleaning recorded text for them.
import { homedir } from "node:os";
import { sep } from "node:path";
import { stripVTControlCharacters } from "node:util";
import pico from "picocolors";

export type Colours = ReturnType<typeof pico.createColors>;

/** Standard output or standard error, and what it can show. */
export interface Pane {
  readonly isTerminal: boolean;
  /** Width of the terminal; undefined if there is none, and nothing is cut. */
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
    // The reader has gone (`| head`). Work in progress still finishes.
    if (error.code === "EPIPE") return;
    process.exitCode = 1;
    if (stream !== process.stderr) process.stderr.write(`error: cannot write the output: ${error.message}\n`);
  });
  return {
    isTerminal,
    // Read each time: the window may be resized while a command runs.
    get columns() {
      return isTerminal ? Math.max(stream.columns ?? 80, NARROWEST_COLUMNS) : undefined;
    },
    colours: pico.createColors(isTerminal && !isPlain),
    write: (text) => void stream.write(text),
  };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: finding control characters is its purpose.
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
/** Characters that reverse the text around them, or are invisible. */
const DIRECTIONS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;
/** Characters that JSON does not escape although they may control a terminal. */
const CONTROLS_IN_JSON = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** Removes control sequences from recorded text: it is data, and must not control the terminal. Line breaks and tabs stay. */
export function cleanText(text: string): string {
  const unbroken = text.replace(/\r\n?|[\u2028\u2029\u0085]/g, "\n");
  return stripVTControlCharacters(unbroken).replace(CONTROLS, "").replace(DIRECTIONS, "").toWellFormed();
}

/** The same on one line, reading no more characters than given. */
export function cleanLine(text: string, charsMax = 2_000): string {
  return cleanText(beginningOf(text, charsMax)).replace(/\s+/g, " ").trim();
}

/** No real character is longer than this. */
const GRAPHEME_CHARS_MAX = 200;

/** The beginning of a text, up to this length and ending with a whole character. */
export function beginningOf(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  const from = Math.max(0, charsMax - GRAPHEME_CHARS_MAX);
  const around = graphemes.segment(text.slice(from, charsMax + GRAPHEME_CHARS_MAX)).containing(charsMax - from);
  return text.slice(0, around === undefined || around.index === 0 ? charsMax : from + around.index);
}

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** A JSON document, indented on a terminal and on one line elsewhere. */
export function documentText(value: unknown, pane: Pane): string {
  const text = JSON.stringify(value, null, pane.isTerminal ? 2 : undefined);
  return `${escapeControls(text)}\n`;
}

export function escapeControls(json: string): string {
  return json.replace(CONTROLS_IN_JSON, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** A line on a terminal's stderr that shows progress, and is removed afterwards. */
export class ProgressLine {
  readonly #pane: Pane;
  #shown = false;

  constructor(pane: Pane) {
    this.#pane = pane;
  }

  show(text: string): void {
    if (!this.#pane.isTerminal) return;
    // A wrapped line could not be removed.
    const line = beginningOf(text, (this.#pane.columns ?? text.length + 1) - 1);
    this.#pane.write(`\r\u001b[2K${this.#pane.colours.dim(line)}`);
    this.#shown = true;
  }

  clear(): void {
    if (this.#shown) this.#pane.write("\r\u001b[2K");
    this.#shown = false;
  }
}

/** A path, with ~ for the home folder. */
export function pathText(path: string): string {
  const home = `${homedir()}${sep}`;
  return cleanLine(path.startsWith(home) ? `~${sep}${path.slice(home.length)}` : path);
}
