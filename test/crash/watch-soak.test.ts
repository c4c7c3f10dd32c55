// A writer that appends, rotates, truncates, replaces and crashes at random, while a watcher is killed and started
// again: every line that was complete is recorded once.

import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { openRecorder } from "../../src/index.js";
import { itemAt } from "../../src/model/item-at.js";
import { seededRandom } from "../conformance/suites/seeded-random.js";
import { startCli } from "../e2e/cli-run.js";
import { recordsOf } from "../support/fixtures.js";
import { fuzzSeed } from "../support/fuzz.js";
import { folderOfTest } from "../support/temporary-folder.js";

const SECONDS = 5;
/** Words that repeat, some of several bytes a letter, so cuts fall into letters. */
const WORDS = ["yes", "go on", "größer", "再试一次", "🙂", "no"];

type Random = () => number;

/** One file that a program writes to, and the lines that it completed. */
abstract class Written {
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
class WithIds extends Written {
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
class WithoutIds extends Written {
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

test(`every complete line is recorded once in ${SECONDS} s of trouble (seed ${fuzzSeed})`, async () => {
  const random = seededRandom(fuzzSeed);
  const folder = folderOfTest();
  const data = join(folder, "record");
  const watched = join(folder, "watched");
  const files = [
    new WithIds(join(watched, "a/ids.jsonl"), random),
    new WithoutIds(join(watched, "b/plain.jsonl"), random),
  ];
  const start = (): ChildProcess => {
    const child = startCli(["watch", watched, "--json"], { data });
    onTestFinished(() => void child.kill("SIGKILL"));
    child.stdout?.resume();
    return child;
  };
  const until = Date.now() + SECONDS * 1_000;
  const killing = (async (): Promise<number> => {
    let kills = 0;
    while (Date.now() < until) {
      const child = start();
      await pause(300 + random() * 1_700);
      child.kill("SIGKILL");
      await once(child, "exit");
      kills += 1;
    }
    return kills;
  })();
  while (Date.now() < until) {
    for (const file of files) file.step();
    await pause(random() * 30);
  }
  expect(await killing).toBeGreaterThan(0);
  const last = start();
  const recorder = await openRecorder({ data });
  onTestFinished(() => recorder.close());
  const said = async (session_id: string): Promise<readonly string[]> => {
    let text = "";
    for await (const piece of recorder.exportEntries({ session_id, kind: "message" })) text += piece;
    return recordsOf(text).flatMap((entry) => ("content" in entry ? [String(entry.content)] : []));
  };
  const [withIds, withoutIds] = files as [Written, Written];
  await expect.poll(() => said("plain"), { timeout: 20_000 }).toHaveLength(withoutIds.lines.length);
  expect(await said("plain")).toEqual(withoutIds.lines);
  await expect.poll(() => said("with-ids"), { timeout: 20_000 }).toHaveLength(withIds.lines.length);
  expect((await said("with-ids")).toSorted()).toEqual(withIds.lines.toSorted());
  last.kill("SIGTERM");
  expect(await once(last, "exit")).toEqual([0, null]);
  expect(existsSync(join(data, "watch.db"))).toBe(true);
});
