// The project that a session belongs to, by the folder it ran in: the name of the repository's root, whichever of its
// worktrees that was.
import { readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { parseLabel } from "../../model/ids.js";
import { Rejection } from "../../model/rejection.js";

/** Where tools put worktrees inside of a repository, for folders that are not on this machine, or not any more. */
const WORKTREES =
  /^(.+?)[\\/](?:\.claude[\\/]worktrees|\.codex[\\/]worktrees|\.worktrees|\.git[\\/]worktrees)[\\/][^\\/]+/;
const KNOWN_MAX = 10_000;
/** No system has longer paths. */
const PATH_CHARS_MAX = 4_096;

export class ProjectNames {
  readonly #byFolder = new Map<string, string>();

  of(cwd: string): string {
    const known = this.#byFolder.get(cwd);
    if (known !== undefined) return known;
    if (this.#byFolder.size >= KNOWN_MAX) this.#byFolder.clear();
    const name = cwd.length > PATH_CHARS_MAX ? "" : lastName(isAbsolute(cwd) ? rootOf(cwd) : cwd);
    const label = parseLabel("project", name) instanceof Rejection ? "" : name;
    this.#byFolder.set(cwd, label);
    return label;
  }
}

function isAbsolute(path: string): boolean {
  return path.startsWith("/") || /^[A-Za-z]:[\\/]/.test(path);
}

/** The root of the repository that holds the folder, as far as it can be told; the folder itself where there is none. */
function rootOf(cwd: string): string {
  for (let folder = cwd; lastName(folder) !== ""; folder = parentOf(folder)) {
    const root = repositoryAt(folder);
    if (root !== undefined) return root;
  }
  const [, outer] = WORKTREES.exec(cwd) ?? [];
  return outer ?? (cwd === homedir() ? "" : cwd);
}

/** What a transcript names may be anything by now: a folder that cannot be looked into is one without a repository. */
function repositoryAt(folder: string): string | undefined {
  const git = `${folder}/.git`;
  try {
    const found = statSync(git);
    if (found.isDirectory()) return folder;
    if (!found.isFile() || found.size > PATH_CHARS_MAX) return undefined;
    // A worktree has a file there, which names its place inside of the main repository.
    const [, place] = /^gitdir: (.+?)[\\/]\.git[\\/]worktrees[\\/]/.exec(readFileSync(git, "utf8")) ?? [];
    return place ?? folder;
  } catch {
    return undefined;
  }
}

function parentOf(path: string): string {
  return path.replace(/[\\/]*[^\\/]*[\\/]*$/, "");
}

function lastName(path: string): string {
  return /[^\\/]+(?=[\\/]*$)/.exec(path)?.[0]?.replace(/^[A-Za-z]:$/, "") ?? "";
}
