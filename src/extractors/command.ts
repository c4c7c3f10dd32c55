// A model behind a command of the user's own, such as `claude -p`: it reads a JSON document and writes one.
import { spawn } from "node:child_process";
import type { Extractor, ModelQuestion, ModelReply } from "../ports/extractor.js";

const TIMEOUT_MS = 300_000;
const ANSWER_BYTES_MAX = 1024 * 1024;

export class CommandExtractor implements Extractor {
  readonly model: string;
  readonly #command: string;

  constructor({ via }: { readonly via: string }) {
    this.model = via;
    this.#command = via;
  }

  ask(question: ModelQuestion, signal?: AbortSignal): Promise<ModelReply> {
    // The user's own words are given to their own shell.
    const child = spawn(this.#command, { shell: true, stdio: ["pipe", "pipe", "ignore"] });
    const pieces: Buffer[] = [];
    let bytes = 0;
    let early: ModelReply | undefined;
    const stop = (reply: ModelReply): void => {
      early ??= reply;
      child.kill("SIGKILL");
      // What the shell has started lives on, and must not be waited for: it writes to nobody.
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
      child.on("close", (status) => {
        clearTimeout(late);
        signal?.removeEventListener("abort", end);
        if (status !== 0) early ??= { failed: `the command ended with status ${status}` };
        resolve(early ?? { text: Buffer.concat(pieces).toString("utf8") });
      });
    });
  }
}
