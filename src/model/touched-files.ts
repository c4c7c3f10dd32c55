// Which files a tool call read or changed, from its arguments: paths under the names that tools use, and the headers of patches.
import { isJsonObject, type JsonObject, type JsonValue } from "./json.js";

/** A path as the call names it, with `/` between its parts, and whether the call changes the file. */
export type TouchedFile = readonly [path: string, how: "read" | "write"];

/** Argument names, lower case and without `_`, whose value is the path of a file. */
const PATH_NAMES: ReadonlySet<string> = new Set([
  ...["filepath", "path", "notebookpath", "filename", "file", "absolutepath", "targetfile", "relativeworkspacepath"],
  ...["filepaths", "paths", "files", "absolutepaths", "movepath", "newpath", "oldpath"],
]);
/** Tools that look through folders: their path is where they look. */
const SEARCHES = /grep|glob|search|find|^ls$|list|tree|^dir$|cwd|chdir/;
const WRITES = /write|edit|replace|create|insert|delete|remove|rename|move|patch|save|append|update|apply/;
/** Edits that are named as a field of the arguments. */
const WRITE_COMMANDS: ReadonlySet<unknown> = new Set(["create", "str_replace", "insert", "undo_edit", "write", "edit"]);
/** Headers of patches: Codex's own form and unified diffs. */
const PATCHED = /^(?:\*\*\* (?:Add|Update|Delete) File: |\*\*\* Move to: |\+\+\+ b\/)([^\n\r]{1,1024})/gm;
const PATCH_START = "*** Begin Patch";
/** A patch may be as long as an entry: headers past this are not looked for. */
const PATCH_CHARS_MAX = 1024 * 1024;
const PATH_CHARS_MAX = 1_024;
/** Paths per call; a tool that reads a whole folder may name thousands. */
const FILES_MAX = 100;

export function touchedFiles(tool: JsonValue | undefined, args: JsonValue | undefined): readonly TouchedFile[] {
  if (typeof tool !== "string" || !isJsonObject(args)) return [];
  const name = tool.toLowerCase();
  const found = new Map<string, TouchedFile[1]>();
  const add = (path: string, how: TouchedFile[1]): void => {
    if (found.size >= FILES_MAX && !found.has(path)) return;
    if (found.get(path) !== "write") found.set(path, how);
  };
  for (const path of patchedPaths(args)) add(path, "write");
  if (!SEARCHES.test(name)) {
    const how = WRITES.test(name) || WRITE_COMMANDS.has(args.command) ? "write" : "read";
    for (const path of namedPaths(args)) add(path, how);
    // One call may edit several files.
    for (const edits of [args.edits, args.files]) {
      if (!Array.isArray(edits)) continue;
      for (const edit of edits.slice(0, FILES_MAX)) {
        if (isJsonObject(edit)) for (const path of namedPaths(edit)) add(path, how);
      }
    }
  }
  return [...found];
}

/** With `/` between its parts and without `./`; undefined if it is not the path of a file. */
export function normalisedPath(given: string): string | undefined {
  if (given === "" || given.length > PATH_CHARS_MAX || /[\0\n\r]/.test(given)) return undefined;
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(given) && !given.startsWith("file://")) return undefined;
  const plain = given
    .replace(/^file:\/\//, "")
    .replaceAll("\\", "/")
    .replace(/\/{2,}/g, "/");
  const path = plain.replace(/^(?:\.\/)+/, "").replace(/\/(?:\.\/)+/g, "/");
  const last = path.slice(path.lastIndexOf("/") + 1);
  return last === "" || last === "." || last === ".." || last.includes("*") ? undefined : path;
}

function* namedPaths(args: JsonObject): Generator<string> {
  for (const [name, value] of Object.entries(args)) {
    if (!PATH_NAMES.has(name.toLowerCase().replaceAll("_", ""))) continue;
    for (const one of Array.isArray(value) ? value.slice(0, FILES_MAX) : [value]) {
      const path = typeof one === "string" ? normalisedPath(one) : undefined;
      if (path !== undefined) yield path;
    }
  }
}

function* patchedPaths(args: JsonObject): Generator<string> {
  for (const value of Object.values(args)) {
    for (const text of Array.isArray(value) ? value : [value]) {
      if (typeof text !== "string" || !(text.includes(PATCH_START) || text.startsWith("--- "))) continue;
      for (const [, header = ""] of text.slice(0, PATCH_CHARS_MAX).matchAll(PATCHED)) {
        const path = normalisedPath(header.replace(/\t.*$/, "").trim());
        if (path !== undefined) yield path;
      }
    }
  }
}
