// Memory files of other tools: which files those are, and importing them.
import { readdir, readFile, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { ProposedStatement } from "../review/memory-answers.js";

/** As Claude Code, Codex and Gemini name them. */
const FILE_NAME = /^(?:(?:CLAUDE|AGENTS|GEMINI)(?:\.local)?|MEMORY)\.md$/i;
const FOLDER_NAME = /^memor(?:y|ies)$/i;

export interface SplitPaths {
  readonly memory_files: readonly string[];
  readonly others: readonly string[];
}

/** Separates memory files, and folders of them, from other paths. Missing paths count as others. */
export async function splitMemoryFiles(paths: readonly string[]): Promise<SplitPaths> {
  const memory_files: string[] = [];
  const others: string[] = [];
  for (const path of paths) {
    const found = path === "-" ? undefined : await memoryFilesAt(path);
    if (found === undefined) others.push(path);
    else memory_files.push(...found);
  }
  return { memory_files, others };
}

async function memoryFilesAt(path: string): Promise<readonly string[] | undefined> {
  const facts = await stat(path).catch(() => undefined);
  if (facts?.isFile() === true) {
    const isInFolder = path.toLowerCase().endsWith(".md") && FOLDER_NAME.test(basename(dirname(path)));
    return FILE_NAME.test(basename(path)) || isInFolder ? [path] : undefined;
  }
  if (facts?.isDirectory() !== true || !FOLDER_NAME.test(basename(path))) return undefined;
  const names = (await readdir(path)).filter((name) => name.toLowerCase().endsWith(".md")).sort();
  return names.length === 0 ? undefined : names.map((name) => join(path, name));
}

interface RejectedLine {
  readonly file: string;
  readonly line: number;
  readonly reason: string;
}

/** The result of an import. */
interface Imported {
  readonly files: number;
  readonly sessions: number;
  readonly added: number;
  readonly existing: number;
  readonly rejected: readonly RejectedLine[];
}

interface ImportedFile {
  readonly file: string;
  readonly format: string;
  readonly added: number;
  readonly existing: number;
  readonly rejected: number;
}

type Propose = (text: string) => Promise<readonly ProposedStatement[]>;

/** Proposes the statements of memory files, and adds them to the result of an import. */
export async function withMemoryFiles(
  imported: Imported,
  files: readonly string[],
  propose: Propose,
  onFile: (file: ImportedFile) => void = () => undefined,
): Promise<Imported> {
  let { files: count, added, existing } = imported;
  const rejected = [...imported.rejected];
  for (const file of files) {
    const own = await importMemoryFile(file, propose);
    onFile({ file, format: "memories", added: own.added, existing: own.existing, rejected: own.rejected.length });
    count += 1;
    added += own.added;
    existing += own.existing;
    rejected.push(...own.rejected);
  }
  return { files: count, sessions: imported.sessions, added, existing, rejected };
}

async function importMemoryFile(
  file: string,
  propose: Propose,
): Promise<Pick<Imported, "added" | "existing" | "rejected">> {
  const text = await readFile(file, "utf8").catch((error: unknown) => error as Error);
  if (typeof text !== "string") {
    return { added: 0, existing: 0, rejected: [{ file, line: 0, reason: `it cannot be read (${text.message})` }] };
  }
  let [added, existing] = [0, 0];
  const rejected: RejectedLine[] = [];
  for (const { line, answer } of await propose(text)) {
    if (!("dropped" in answer)) added += 1;
    else if (answer.dropped === "known") existing += 1;
    else rejected.push({ file, line, reason: `${answer.dropped}: ${answer.reason}` });
  }
  return { added, existing, rejected };
}
