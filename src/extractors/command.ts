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
    let failure: string | undefined;
    const stop = (reason: string): void => {
      failure ??= reason;
      child.kill("SIGKILL");
    };
    const end = (): void => stop("it was ended");
    signal?.addEventListener("abort", end, { once: true });
    const late = setTimeout(() => stop(`the command took longer than ${TIMEOUT_MS / 1_000} seconds`), TIMEOUT_MS);
    child.stdout.on("data", (piece: Buffer) => {
      bytes += piece.byteLength;
      if (bytes > ANSWER_BYTES_MAX) stop(`the command wrote more than ${ANSWER_BYTES_MAX} bytes`);
      else pieces.push(piece);
    });
    // A command that does not read all of it may answer all the same.
    child.stdin.on("error", () => undefined);
    child.stdin.end(`${JSON.stringify(question)}\n`);
    return new Promise((resolve) => {
      child.on("error", (error) => {
        failure ??= error.message;
      });
      child.on("close", (status) => {
        clearTimeout(late);
        signal?.removeEventListener("abort", end);
        if (failure === undefined && status !== 0) failure = `the command ended with status ${status}`;
        resolve(failure === undefined ? { text: Buffer.concat(pieces).toString("utf8") } : { failed: failure });
      });
    });
  }
}
