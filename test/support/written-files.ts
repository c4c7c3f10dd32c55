// Files as other tools write them while somebody watches: appended in parts, rotated, truncated, replaced, and torn by crashes.
import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { itemAt } from "../../src/model/item-at.js";

/** Words that repeat, some of several bytes a letter, so cuts fall into letters. */
const WORDS = ["yes", "go on", "größer", "再试一次", "🙂", "no"];

type Random = () => number;

/** One file that a program writes to, and the lines that it completed. */
export abstract class WrittenFile {
  readonly lines: string[] = [];
  readonly path: string;
  readonly random: Random;
  #rotations = 0;

  constructor(path: string, random: Random) {
    this.path = path;
    this.random = random;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, "");
  }

  abstract step(): void;

  /** The next line, and what it says. */
  abstract next(): { readonly line: string; readonly text: string };

  word(): string {
    return itemAt(WORDS, Math.floor(this.random() * WORDS.length));
  }

  /** In pieces that end anywhere, as buffers do. */
  append(): void {
    for (let count = Math.ceil(this.random() * 4); count > 0; count -= 1) {
      const { line, text } = this.next();
      const bytes = Buffer.from(`${line}\n`);
      const cut = Math.floor(this.random() * bytes.length);
      appendFileSync(this.path, bytes.subarray(0, cut));
      appendFileSync(this.path, bytes.subarray(cut));
      this.lines.push(text);
    }
  }

  /** An unfinished line: the next writer cuts it off, or begins another line. */
  crash(): void {
    const { size } = statSync(this.path);
    const bytes = Buffer.from(`{"torn": "${this.word()}`);
    appendFileSync(this.path, bytes.subarray(0, 1 + Math.floor(this.random() * (bytes.length - 1))));
    if (this.random() < 0.5) truncateSync(this.path, size);
    else appendFileSync(this.path, "\n");
  }

  replace(): void {
    const { line, text } = this.next();
    writeFileSync(`${this.path}.tmp`, `${readFileSync(this.path, "utf8")}${line}\n`);
    renameSync(`${this.path}.tmp`, this.path);
    this.lines.push(text);
  }

  rotate(): void {
    this.#rotations += 1;
    renameSync(this.path, `${this.path}.${this.#rotations}`);
    writeFileSync(this.path, "");
  }

  copyAndTruncate(): void {
    this.#rotations += 1;
    copyFileSync(this.path, `${this.path}.${this.#rotations}`);
    truncateSync(this.path, 0);
  }

  choose(...ways: readonly (() => void)[]): void {
    const chosen = this.random() < 0.8 ? ways[0] : ways[1 + Math.floor(this.random() * (ways.length - 1))];
    chosen?.();
  }
}

/** Claude Code's lines have ids, and survive whatever happens to their file. */
export class FileWithIds extends WrittenFile {
  #count = 0;

  step(): void {
    this.choose(
      () => this.append(),
      () => this.crash(),
      () => this.replace(),
      () => this.rotate(),
      () => this.copyAndTruncate(),
    );
  }

  next(): { readonly line: string; readonly text: string } {
    this.#count += 1;
    const text = `${this.word()} ${this.#count}`;
    const message = { role: "user", content: text };
    const ids = { uuid: `soak-${this.#count}`, sessionId: "with-ids", timestamp: "2026-05-04T08:00:00.000Z" };
    return { line: JSON.stringify({ type: "user", ...ids, message }), text };
  }
}

/** Cursor's have neither ids nor times: which one it is depends on how often the same came before. */
export class FileWithoutIds extends WrittenFile {
  step(): void {
    this.choose(
      () => this.append(),
      () => this.crash(),
      () => this.replace(),
    );
  }

  next(): { readonly line: string; readonly text: string } {
    const text = this.word();
    return { line: JSON.stringify({ role: "user", message: { content: [{ type: "text", text }] } }), text };
  }
}
