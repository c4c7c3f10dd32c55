// `hansard export`: writes entries to standard output, to a file, or to a folder with a file per session.
import { hash, randomUUID } from "node:crypto";
import { statSync } from "node:fs";
import { basename, join } from "node:path";
import type { Command } from "commander";
import type { Recorder } from "../../../index.js";
import { makeFolder } from "../../../model/files.js";
import { streams } from "../../../operations/streams.js";
import { type CommandModule, helpText, type Invocation, systemUser, textOptions, withRecorder } from "../command.js";
import { exitStatus, WrongUse } from "../failures.js";
import { sessionIdFor } from "../named-session.js";
import { defineFlags, flagsGiven } from "../operation-command.js";
import { countOf, formatBytes, formatCount } from "../text/table.js";
import { cleanText, escapeControls, type Pane, ProgressLine } from "../text/terminal.js";
import { refuseExisting, writeOut, writeWhole } from "../written-file.js";

/** Formats with one session per file. */
const PER_SESSION = new Set(["nanobot", "timmy"]);

export const exportCommand: CommandModule = {
  define(command: Command): void {
    defineFlags(command, streams.export)
      .option("--out <path>", "the file to write; for nanobot and timmy without --session, a folder")
      .option("--force", "replace existing files")
      .option("--json", "print errors as JSON; the export itself does not change")
      .addHelpText(
        "after",
        helpText(
          ["nanobot contains messages; timmy also tool calls, errors and decisions. Other entries are not exported."],
          [
            ["a copy of the whole record", "hansard export --out record.ndjson"],
            ["one session, to read", "hansard export --format markdown --session cli:anna"],
            ["back to nanobot", "hansard export --format nanobot --out ~/.nanobot/workspace/sessions"],
          ],
        ),
      );
  },

  async run(invocation: Invocation) {
    await withRecorder(invocation, { create: false }, (recorder) => exportWith(recorder, invocation));
    return exitStatus.done;
  },
};

async function exportWith(recorder: Recorder, { options, screen }: Invocation): Promise<void> {
  const { out } = textOptions(options, ["out"]);
  let isNoted = false;
  const onUnaudited = (): void => {
    if (!isNoted) screen.err.write("The store is read-only, so this export has no audit entry.\n");
    isNoted = true;
  };
  const audit = { actor: systemUser(), export_id: randomUUID(), onUnaudited };
  const given = flagsGiven(options, streams.export);
  const session_id = given.session_id === undefined ? undefined : await sessionIdFor(recorder, given.session_id);
  const chosen = { ...given, ...(session_id === undefined ? {} : { session_id }), ...audit };
  const isPerSession = PER_SESSION.has(chosen.format ?? "");
  const replaces = options.force === true;
  if (!isPerSession || (session_id ?? "") !== "") {
    const lines = notingEmpty(recorder.exportEntries(chosen), screen.err);
    if (out === undefined || out === "-")
      return writeOut(screen.out.isTerminal ? forTerminal(lines, chosen.format) : lines);
    const [name] = isFolder(out) ? [...fileNamesOf([session_id ?? ""]).values()] : [];
    const path = name !== undefined && isPerSession ? join(out, name) : out;
    refuseExisting([path], replaces);
    await writeWhole(path, lines);
    screen.err.write(`Wrote ${formatBytes(statSync(path).size)} to ${cleanText(path)}.\n`);
    return;
  }
  if (out === undefined || out === "-") throw folderMissing(chosen.format as string);
  const progress = new ProgressLine(screen.err);
  const names = fileNamesOf(await sessionIds(recorder, chosen));
  refuseExisting(
    [...names.values()].map((name) => join(out, name)),
    replaces,
  );
  makeFolder(out, 0o700);
  let [done, written] = [0, 0];
  for (const [session, name] of names) {
    const lines = recorder.exportEntries({ ...chosen, session_id: session });
    const first = await lines.next();
    // A session without matching entries gets no file.
    if (first.done !== true) {
      await writeWhole(join(out, name), startingWith(first.value, lines));
      written += 1;
    }
    done += 1;
    progress.show(`${formatCount(done)} of ${countOf(names.size, "session", "sessions")} …`);
  }
  progress.clear();
  screen.err.write(`Wrote ${countOf(written, "session", "sessions")} to ${basename(out)}.\n`);
}

/** Notes on stderr that the export is empty: it would look like a failure. */
async function* notingEmpty(lines: AsyncIterable<string>, err: Pane): AsyncGenerator<string> {
  let isEmpty = true;
  for await (const line of lines) {
    isEmpty = false;
    yield line;
  }
  if (isEmpty) err.write("No entries match; the export is empty.\n");
}

async function* startingWith(first: string, rest: AsyncIterable<string>): AsyncGenerator<string> {
  yield first;
  yield* rest;
}

/** Keeps control sequences in recorded text from reaching the terminal. */
async function* forTerminal(lines: AsyncIterable<string>, format?: string): AsyncGenerator<string> {
  for await (const line of lines) yield format === "markdown" ? cleanText(line) : escapeControls(line);
}

async function sessionIds(
  recorder: Recorder,
  { project, client }: { readonly project?: string; readonly client?: string },
): Promise<readonly string[]> {
  const ids: string[] = [];
  let cursor: string | null | undefined;
  do {
    const page = await recorder.listSessions({ project, client, cursor, limit: 500 });
    for (const { session_id } of page.sessions) ids.push(session_id);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return ids;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function folderMissing(format: string): WrongUse {
  return new WrongUse({
    code: "option_invalid",
    field: "--out",
    message: `${format} writes one file per session`,
    hint: "Give a folder with --out, or one session with --session.",
  });
}

/** File systems allow 255 bytes; some are left for a suffix. */
const NAME_BYTES_MAX = 200;
const HASH_CHARS = 12;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are not allowed in a file name.
const UNSAFE = /[:/\\\u0000-\u001f]/g;

/**
 * A file name for each session: the one that nanobot expects, if no other session has the same. Sessions with the same name,
 * also where a file system ignores case, get a hash appended. Which one keeps the plain name does not depend on their order.
 * @internal Exported for tests.
 */
export function fileNamesOf(sessions: readonly string[]): ReadonlyMap<string, string> {
  const taken = new Set<string>();
  const names = new Map<string, string>();
  const ordered = [...new Set(sessions)].sort(
    (a, b) => Number(isChanged(a)) - Number(isChanged(b)) || (a < b ? -1 : 1),
  );
  for (const session of ordered) {
    const plain = plainName(session);
    const isOwn = plain !== undefined && !taken.has(folded(plain));
    const suffix = hash("sha256", session, "hex").slice(0, HASH_CHARS);
    const name = isOwn ? plain : `${cut(safe(session))}-${suffix}.jsonl`;
    taken.add(folded(name));
    names.set(session, name);
  }
  return names;
}

function isChanged(session: string): boolean {
  return safe(session) !== session;
}

function safe(session: string): string {
  return session.replaceAll(UNSAFE, "_");
}

function plainName(session: string): string | undefined {
  const name = safe(session);
  return Buffer.byteLength(name) > NAME_BYTES_MAX || name === "" ? undefined : `${name}.jsonl`;
}

/** Cuts a name at a whole character. */
function cut(name: string): string {
  let kept = "";
  for (const char of name) {
    if (Buffer.byteLength(kept + char) > NAME_BYTES_MAX / 2) break;
    kept += char;
  }
  return kept;
}

function folded(name: string): string {
  return name.normalize("NFC").toLowerCase();
}
