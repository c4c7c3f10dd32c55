// A model behind a command of the user's own, such as `claude -p`: it reads a JSON document and writes one.
import { type ChildProcess, spawn } from "node:child_process";
import { basename } from "node:path";
import type { Extractor, ModelQuestion, ModelReply } from "../extractor.js";

const TIMEOUT_MS = 300_000;
const ANSWER_BYTES_MAX = 1024 * 1024;
/** How long it is listened to after its end. */
const LEFT_BEHIND_MS = 1_000;

export class CommandExtractor implements Extractor {
  readonly model: string;
  readonly name: string;
  readonly #command: string;

  constructor({ via }: { readonly via: string }) {
    this.model = via;
    this.name = programIn(via);
    this.#command = via;
  }

  ask(question: ModelQuestion, signal?: AbortSignal): Promise<ModelReply> {
    // The user's own words are given to their own shell, with whatever that starts in a group of its own.
    const child = spawn(this.#command, { shell: true, stdio: ["pipe", "pipe", "ignore"], detached: true });
    const keeping = endWithUs(child);
    const pieces: Buffer[] = [];
    let bytes = 0;
    let early: ModelReply | undefined;
    const stop = (reply: ModelReply): void => {
      early ??= reply;
      endGroup(child);
      // One that left the group lives on, and must not be waited for: it writes to nobody.
      child.stdout.destroy();
    };
    const end = (): void => stop({ failed: "it was ended" });
    signal?.addEventListener("abort", end, { once: true });
    const late = setTimeout(() => {
      stop({ failed: `the command took longer than ${TIMEOUT_MS / 1_000} seconds` });
    }, TIMEOUT_MS);
    child.stdout.on("data", (piece: Buffer) => {
      bytes += piece.byteLength;
      if (bytes > ANSWER_BYTES_MAX) stop({ unusable: `The command wrote more than ${ANSWER_BYTES_MAX} bytes.` });
      else pieces.push(piece);
    });
    // A command that does not read all of it may answer all the same.
    child.stdin.on("error", () => undefined);
    child.stdin.end(`${JSON.stringify(question)}\n`);
    return new Promise((resolve) => {
      child.on("error", (error) => {
        early ??= { failed: error.message };
      });
      // What it leaves behind may hold on to its output, and has nothing to add to an answer.
      child.on("exit", () => setTimeout(() => child.stdout.destroy(), LEFT_BEHIND_MS).unref());
      child.on("close", (status, signal_name) => {
        clearTimeout(late);
        keeping.forget();
        signal?.removeEventListener("abort", end);
        if (status !== 0) early ??= { failed: `the command ended with ${signal_name ?? `status ${status}`}` };
        resolve(early ?? { text: Buffer.concat(pieces).toString("utf8") });
      });
    });
  }
}

/**
 * The program that a command line begins with. The rest of it may hold a key, which an audit must not keep, and so may the
 * variables that are set before it.
 */
function programIn(command: string): string {
  if (/\$\(|`/.test(command)) return "command";
  const ASSIGNMENT = /^\s*[A-Za-z_]\w*=(?:"(?:\\.|[^"\\])*"|'[^']*'|\\.|[^\s"'\\])*(?=\s)/;
  let rest = command;
  while (ASSIGNMENT.test(rest)) rest = rest.replace(ASSIGNMENT, "");
  const [, quoted, bare] = /^\s*(?:["']([^"']+)["']|([^\s"';|&<>()$`]+))/.exec(rest) ?? [];
  const name = basename(quoted ?? bare ?? "");
  return /^[\w.+-]{1,64}$/.test(name) ? name : "command";
}

/** All that the shell has started goes with it. */
function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It has ended meanwhile, or runs as somebody else: nobody is there to hear of it, and nothing more can be done.
  }
}

/** In a group of its own it would not hear of Ctrl-C, and outlive whoever asked it. */
function endWithUs(child: ChildProcess): { forget(): void } {
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  const onExit = (): void => endGroup(child);
  const onSignal = (signal: NodeJS.Signals): void => {
    endGroup(child);
    forget();
    // Nobody else wants to be asked: then it ends this program, as it would have without a child.
    if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
  };
  const forget = (): void => {
    process.off("exit", onExit);
    for (const signal of signals) process.off(signal, onSignal);
  };
  process.on("exit", onExit);
  for (const signal of signals) process.on(signal, onSignal);
  return { forget };
}
