// The models that propose memories: a command of the user's, such as `claude -p`, or an OpenAI-compatible endpoint.

import { type ChildProcess, spawn } from "node:child_process";
import { basename } from "node:path";
import { isJsonObject, parseJsonObject } from "../../../model/json.js";
import { ownRequest } from "../../../model/own-requests.js";
import { RecorderError } from "../../../model/rejection.js";
import type { Extractor, ExtractorSettings, ModelReply, ModelRequest } from "../extractor.js";

export function openExtractor(settings: ExtractorSettings): Extractor {
  return "via" in settings ? new CommandExtractor(settings) : new EndpointExtractor(settings);
}

const COMMAND_TIMEOUT_MS = 300_000;
const ANSWER_BYTES_MAX = 1024 * 1024;
/** How long its output is read after it exits. */
const LEFT_BEHIND_MS = 1_000;

class CommandExtractor implements Extractor {
  readonly model: string;
  readonly name: string;
  readonly #command: string;

  constructor({ via }: { readonly via: string }) {
    this.model = via;
    this.name = programIn(via);
    // These take no standard input unless the flag has a text.
    this.#command = /^(?:gemini|qwen)$/.test(this.name) ? via.replace(/(\s(?:-p|--prompt))\s*$/, "$1 ''") : via;
  }

  /** A program of one's own gets JSON, a known agent the same as text. */
  #inputOf({ prompt, text }: ModelRequest): string {
    if (READS_TEXT.has(this.name)) return `${ownRequest(prompt)}\n\n${text}\n`;
    return `${JSON.stringify({ prompt: ownRequest(prompt), text })}\n`;
  }

  ask(request: ModelRequest, signal?: AbortSignal): Promise<ModelReply> {
    // The user's own command in their own shell, in a process group of its own.
    const child = spawn(this.#command, { shell: true, stdio: ["pipe", "pipe", "ignore"], detached: true });
    const keeping = endWithUs(child);
    const chunks: Buffer[] = [];
    let bytes = 0;
    let early: ModelReply | undefined;
    const stop = (reply: ModelReply): void => {
      early ??= reply;
      endGroup(child);
      // A process that left the group lives on and must not be waited for.
      child.stdout.destroy();
    };
    const end = (): void => stop({ failed: "aborted" });
    signal?.addEventListener("abort", end, { once: true });
    const late = setTimeout(() => {
      stop({ failed: `the command took longer than ${COMMAND_TIMEOUT_MS / 1_000} seconds` });
    }, COMMAND_TIMEOUT_MS);
    child.stdout.on("data", (chunk: Buffer) => {
      bytes += chunk.byteLength;
      if (bytes > ANSWER_BYTES_MAX) stop({ unusable: `The command wrote more than ${ANSWER_BYTES_MAX} bytes.` });
      else chunks.push(chunk);
    });
    // A command that does not read all of its input may still answer.
    child.stdin.on("error", () => undefined);
    child.stdin.end(this.#inputOf(request));
    return new Promise((resolve) => {
      child.on("error", (error) => {
        early ??= { failed: error.message };
      });
      // A process that it left behind may keep its output open.
      child.on("exit", () => setTimeout(() => child.stdout.destroy(), LEFT_BEHIND_MS).unref());
      child.on("close", (status, signal_name) => {
        clearTimeout(late);
        keeping.forget();
        signal?.removeEventListener("abort", end);
        if (status !== 0) early ??= { failed: `the command exited with ${signal_name ?? `status ${status}`}` };
        resolve(early ?? { text: Buffer.concat(chunks).toString("utf8") });
      });
    });
  }
}

/** Agents and chat programs: they take a text on their standard input as what is said to them. */
const READS_TEXT: ReadonlySet<string> = new Set(
  "claude codex gemini qwen opencode copilot llm ollama aichat mods sgpt pi goose cursor-agent amp crush droid".split(
    " ",
  ),
);

/**
 * The program that a command line begins with. Arguments and variables may hold a key, which must not be recorded.
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

/** Kills everything that the shell has started. */
function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It has exited meanwhile, or runs as another user.
  }
}

/** Its own process group does not receive Ctrl-C, so it is killed with this process. */
function endWithUs(child: ChildProcess): { forget(): void } {
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  const onExit = (): void => endGroup(child);
  const onSignal = (signal: NodeJS.Signals): void => {
    endGroup(child);
    forget();
    // Without other handlers the signal ends this process, as usual.
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

interface EndpointSettings {
  readonly url: string;
  readonly model: string;
  readonly key?: string | undefined;
}

const ENDPOINT_TIMEOUT_MS = 120_000;
/** Statuses that may be about one request; others, such as a wrong key, concern all. */
const REFUSES_QUESTION: ReadonlySet<number> = new Set([400, 422, 451]);
/** Statuses of servers that know no form for answers. */
const FORM_REFUSED: ReadonlySet<number> = new Set([400, 404, 422, 500, 501]);
/** Errors before a connection exists. */
const NOT_CONNECTED: ReadonlySet<unknown> = new Set([
  ...["ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH", "ENOTFOUND", "EAI_AGAIN", "UND_ERR_CONNECT_TIMEOUT"],
]);

class EndpointExtractor implements Extractor {
  readonly model: string;
  readonly name: string;
  readonly #url: URL;
  readonly #key: string | undefined;
  /** Whether it takes a form for the answer: some servers know none. */
  #takesForm = true;

  constructor({ url, model, key }: EndpointSettings) {
    this.#url = parseAddress(url);
    this.#key = key;
    this.model = model;
    this.name = model;
  }

  async ask(request: ModelRequest, signal?: AbortSignal): Promise<ModelReply> {
    return this.#ask(request, signal).catch(unreached);
  }

  async #ask(request: ModelRequest, signal?: AbortSignal): Promise<ModelReply> {
    const { prompt, text, schema } = request;
    const isHeld = this.#takesForm && schema !== undefined;
    const late = AbortSignal.timeout(ENDPOINT_TIMEOUT_MS);
    const response = await fetch(this.#url, {
      method: "POST",
      // Another host is not the one that the user chose.
      redirect: "manual",
      signal: signal === undefined ? late : AbortSignal.any([late, signal]),
      headers: {
        "content-type": "application/json",
        ...(this.#key === undefined ? {} : { authorization: `Bearer ${this.#key}` }),
      },
      body: JSON.stringify({
        model: this.model,
        messages: [
          { role: "system", content: ownRequest(prompt) },
          { role: "user", content: text },
        ],
        ...(isHeld
          ? { response_format: { type: "json_schema", json_schema: { name: "memories", strict: true, schema } } }
          : {}),
      }),
    });
    if (response.status === 429 || response.status >= 500) {
      await response.body?.cancel();
      const seconds = Number(response.headers.get("retry-after") ?? "1");
      const retry_ms = Number.isFinite(seconds) ? Math.max(0, seconds) * 1_000 : 1_000;
      return { failed: `the endpoint answered ${response.status}`, retry_ms };
    }
    if (response.status >= 300 && response.status < 400) {
      await response.body?.cancel();
      return { failed: "the endpoint redirects, which is not followed" };
    }
    const body = await readBounded(response);
    if (body === undefined) return { unusable: `The answer is longer than ${ANSWER_BYTES_MAX} bytes.` };
    if (
      !response.ok &&
      isHeld &&
      FORM_REFUSED.has(response.status) &&
      /response_format|json_schema|schema/i.test(body)
    ) {
      this.#takesForm = false;
      return this.#ask(request, signal);
    }
    if (!response.ok) return isTooLong(response.status, body) ? { too_long: true } : refused(response.status);
    return textOf(body);
  }
}

/** Recorded text leaves the machine only encrypted. */
function parseAddress(given: string): URL {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  const isLocal = url !== undefined && /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(url.hostname);
  if (url === undefined || !(url.protocol === "https:" || (url.protocol === "http:" && isLocal))) {
    throw new RecorderError({
      code: "field_invalid",
      field: "model_url",
      message: "the address of a model must begin with https://, or with http:// for this machine",
    });
  }
  if (url.username !== "" || url.password !== "") {
    throw new RecorderError({
      code: "field_invalid",
      field: "model_url",
      message: "the address of a model must not contain a user or a password",
      hint: "Set the key with HANSARD_MODEL_KEY, or the option `key` of the library.",
    });
  }
  // Ollama, LM Studio and llama.cpp are named by their address alone.
  if (url.pathname === "/") url.pathname = "/v1";
  if (!url.pathname.endsWith("/chat/completions")) url.pathname = `${url.pathname.replace(/\/$/, "")}/chat/completions`;
  return url;
}

async function readBounded(response: Response): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > ANSWER_BYTES_MAX) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function textOf(body: string): ModelReply {
  const { choices } = parseJsonObject(body) ?? {};
  const [choice] = Array.isArray(choices) ? choices : [];
  if (!isJsonObject(choice)) return { failed: "the answer is not a model response" };
  if (choice.finish_reason === "length") return { too_long: true };
  const { content } = isJsonObject(choice.message) ? choice.message : {};
  return typeof content === "string" ? { text: content } : { unusable: "The model response has no text." };
}

function isTooLong(status: number, body: string): boolean {
  return status === 413 || /context_length_exceeded|maximum context|context length|too long/i.test(body);
}

function refused(status: number): ModelReply {
  const reason = `the endpoint rejected the request (${status})`;
  return REFUSES_QUESTION.has(status) ? { refused: reason } : { failed: reason };
}

function unreached(error: unknown): ModelReply {
  const { cause, message } = error as { readonly cause?: { readonly code?: string }; readonly message?: string };
  const failed = `the endpoint cannot be reached (${cause?.code ?? message ?? String(error)})`;
  return NOT_CONNECTED.has(cause?.code) ? { failed, unsent: true } : { failed };
}
