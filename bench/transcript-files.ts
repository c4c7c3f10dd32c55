// Transcripts of other tools to be imported, of any length and the same in every run: talk as coding agents have it, with
// short words of the user, calls of tools, and results that are most of the bytes.

import { closeSync, openSync, writeSync } from "node:fs";
import { itemAt } from "../src/model/item-at.js";
import { Corpus, seeded } from "./sample-data.js";

const TEXTS = 400;
const PIECE_BYTES = 1024 * 1024;
const RESULT_CHARS_MEAN = 2_500;

export const transcriptFormats = ["claude-code", "codex", "chatgpt"] as const;
export type TranscriptFormat = (typeof transcriptFormats)[number];

/** What a file holds: the text before its items, the items, and the text after them. */
interface Shape {
  readonly ending: string;
  readonly before: string;
  readonly between: string;
  readonly after: string;
  /** One turn: what the user said, and all that followed. */
  turn(number: number, words: Words): readonly object[];
}

export function fileName(format: TranscriptFormat): string {
  return `${format}${shapes[format].ending}`;
}

export function writeTranscript(path: string, format: TranscriptFormat, bytes: number): void {
  const { before, between, after, turn } = shapes[format];
  const words = new Words();
  const file = openSync(path, "w");
  try {
    let written = writeSync(file, before);
    let piece = "";
    for (let number = 0; written + piece.length < bytes; number += 1) {
      for (const item of turn(number, words)) {
        if (written + piece.length > before.length) piece += between;
        piece += JSON.stringify(item);
      }
      if (piece.length < PIECE_BYTES) continue;
      written += writeSync(file, piece);
      piece = "";
    }
    writeSync(file, piece + after);
  } finally {
    closeSync(file);
  }
}

/** Texts of about the length that is wanted, cut from some that were made before. */
class Words {
  readonly random = seeded(5);
  readonly #texts: readonly string[];

  constructor() {
    const corpus = new Corpus();
    this.#texts = Array.from({ length: TEXTS }, (_, number) => corpus.entry(number, 8_000).content);
  }

  /** What every turn repeats. */
  same(): string {
    return itemAt(this.#texts, 0).slice(0, 3_000);
  }

  text(chars: number): string {
    const whole = itemAt(this.#texts, Math.floor(this.random() * TEXTS));
    const start = Math.floor(this.random() * 2_000);
    return whole.slice(start, start + chars).toWellFormed();
  }

  /** What only its provider can read. */
  sealed(): string {
    return Buffer.from(this.text(800)).toString("base64");
  }

  /** Most results are short, and a few are most of the bytes. */
  result(): string {
    return this.text(Math.ceil(-Math.log(1 - this.random()) * RESULT_CHARS_MEAN));
  }
}

const START_MS = Date.UTC(2026, 0, 5);
const timeOf = (number: number, second: number): string =>
  new Date(START_MS + number * 30_000 + second * 1_000).toISOString();
const uuidOf = (number: number, nth: number): string =>
  `${number.toString(16).padStart(8, "0")}-${nth.toString(16).padStart(4, "0")}-4000-8000-000000000000`;
const SESSION_TURNS = 400;

const shapes: { readonly [format in TranscriptFormat]: Shape } = {
  "claude-code": {
    ending: ".jsonl",
    before: "",
    between: "\n",
    after: "\n",
    turn(number, words) {
      const session = uuidOf(Math.floor(number / SESSION_TURNS), 0xffff);
      const line = (nth: number, type: string, message: object, more: object = {}): object => ({
        parentUuid: uuidOf(number, nth),
        isSidechain: false,
        userType: "external",
        cwd: "/projects/example",
        sessionId: session,
        version: "2.1.30",
        gitBranch: "main",
        type,
        message,
        uuid: uuidOf(number, nth + 1),
        timestamp: timeOf(number, nth),
        ...more,
      });
      const said = (nth: number, block: object): object => {
        const usage = { input_tokens: 4, cache_read_input_tokens: 18_000 + number, output_tokens: 40 + nth };
        const id = `msg_${number}_${nth >> 2}`;
        const message = { id, type: "message", role: "assistant", model: "claude-opus-4-5", content: [block], usage };
        return line(nth, "assistant", message, { requestId: `req_${id}` });
      };
      const rounds = [4, 8, 12].flatMap((nth) => {
        const id = `toolu_${number}_${nth}`;
        const text = words.result();
        const result = { tool_use_id: id, type: "tool_result", content: text, is_error: false };
        return [
          said(nth, { type: "text", text: words.text(160) }),
          said(nth + 1, { type: "tool_use", id, name: "Bash", input: { command: words.text(80) } }),
          line(nth + 2, "user", { role: "user", content: [result] }, { toolUseResult: { stdout: text, stderr: "" } }),
        ];
      });
      const asked = line(0, "user", { role: "user", content: words.text(240) });
      return [asked, ...rounds, said(16, { type: "text", text: words.text(700) })];
    },
  },
  codex: {
    ending: ".jsonl",
    before: "",
    between: "\n",
    after: "\n",
    turn(number, words) {
      const line = (nth: number, type: string, payload: object): object => ({
        timestamp: timeOf(number, nth),
        type,
        payload,
      });
      const meta = { id: uuidOf(1, 1), timestamp: timeOf(0, 0), cwd: "/projects/example", cli_version: "0.80.0" };
      const asked = words.text(240);
      const answer = words.text(700);
      const total = { input_tokens: number * 9_000, output_tokens: number * 90 };
      const last_token_usage = { input_tokens: 9_000, cached_input_tokens: 8_000, output_tokens: 90 };
      const rounds = [2, 6, 10].flatMap((nth) => {
        const call_id = `call_${number}_${nth}`;
        const call = { type: "function_call", name: "shell", arguments: JSON.stringify({ command: [words.text(80)] }) };
        const output = JSON.stringify({ output: words.result(), metadata: { exit_code: 0, duration_seconds: 0.4 } });
        return [
          line(nth, "response_item", {
            type: "reasoning",
            summary: [{ type: "summary_text", text: words.text(120) }],
            encrypted_content: words.sealed(),
          }),
          line(nth + 1, "response_item", { ...call, call_id }),
          line(nth + 2, "response_item", { type: "function_call_output", call_id, output }),
        ];
      });
      return [
        ...(number === 0 ? [line(0, "session_meta", meta)] : []),
        line(0, "turn_context", { cwd: meta.cwd, model: "gpt-5-codex", user_instructions: words.same() }),
        line(1, "response_item", message("user", "input_text", asked)),
        line(1, "event_msg", { type: "user_message", message: asked }),
        ...rounds,
        line(14, "response_item", message("assistant", "output_text", answer)),
        line(14, "event_msg", { type: "agent_message", message: answer }),
        line(15, "event_msg", { type: "token_count", info: { total_token_usage: total, last_token_usage } }),
      ];
    },
  },
  chatgpt: {
    ending: ".json",
    before: "[",
    between: ",",
    after: "]",
    turn(number, words) {
      const nodes = Array.from({ length: 12 }, (_, nth) => {
        const role = nth % 2 === 0 ? "user" : "assistant";
        const parts = [nth % 2 === 0 ? words.text(240) : words.result()];
        const create_time = START_MS / 1_000 + number * 600 + nth * 30;
        const content = { content_type: "text", parts };
        const message = {
          id: uuidOf(number, nth),
          author: { role },
          create_time,
          content,
          weight: 1,
          recipient: "all",
        };
        const parent = nth === 0 ? null : `${number}-${nth - 1}`;
        return [`${number}-${nth}`, { id: `${number}-${nth}`, parent, children: [`${number}-${nth + 1}`], message }];
      });
      const facts = { title: `Talk ${number}`, create_time: START_MS / 1_000, conversation_id: uuidOf(number, 0xfff) };
      return [{ ...facts, mapping: Object.fromEntries(nodes), current_node: `${number}-11` }];
    },
  },
};

function message(role: string, type: string, text: string): object {
  return { type: "message", role, content: [{ type, text }] };
}
