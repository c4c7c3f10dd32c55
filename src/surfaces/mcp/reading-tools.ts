// The tools with which an agent reads its own past.
import { knownOptions } from "../../model/options.js";
import { notFound, RecorderError } from "../../model/rejection.js";
import { operations } from "../../operations/index.js";
import type { Recorder } from "../../recorder/recorder.js";
import { countThatFits, cursorAt, fits, pageThatFits, pieceOf, placeOf, shortened } from "./bounds.js";
import { answerOutput, cursorProperty, envelopeOf, nextCursor, operationInput, questionInput } from "./schemas.js";
import { type Arguments, type JsonSchema, recordedAnswer, type Tool, type ToolAnswer } from "./tool.js";

const text = { type: "string" } as const;
const textInput = (description: string) => ({ ...text, description });

export const readingTools = {
  session_history: {
    title: "What was recorded about a phrase",
    description:
      "Looks a phrase up in the recorded conversation, newest first, a line each: what users and assistants said, tools " +
      "returned, failed and was decided. For exact terms, exclusions and filters use search.",
    route: "GET /session-history",
    input: () => questionInput("session_history", { cursor: cursorProperty }, ["query"]),
    output: () => object({ text: { ...text, description: "The lines." }, next_cursor: nextCursor }),
    async call(recorder, { cursor, ...options }) {
      const found = await recorder.sessionHistory(options as Parameters<Recorder["sessionHistory"]>[0] & object);
      const piece = pieceOf(found, cursor);
      return recordedAnswer({ ...piece }, piece.text);
    },
  },
  self_reflect: {
    title: "Look back at recent work",
    description:
      "Reports on the newest entries: answers of low confidence, errors by what they have in common, recurring topics, " +
      "failing and slow tools, disliked answers, decisions followed by errors, the trend, and insights.",
    route: "GET /reflection",
    input: () => questionInput("reflection"),
    output: (schemas) => ({ ...answerOutput(schemas, "Reflection"), required: ["reviewed", "errors", "markdown"] }),
    async call(recorder, options) {
      const report = await recorder.reflect(options);
      const { reviewed, users, responses, errors, markdown } = report;
      const structured = shortened(report) ?? {
        reviewed,
        users,
        responses,
        errors,
        markdown: pieceOf(markdown, "").text,
      };
      return recordedAnswer({ ...structured }, pieceOf(markdown, "").text);
    },
  },
  search: {
    title: "Search the record",
    description:
      "Finds entries of the conversation that hold all terms, newest first. Raw records, memories, audits and notes about " +
      "sessions are found with kind; elsewhere counts the matches there. Long fields are cut in the answer; get_entry " +
      "has them whole.",
    route: "GET /search",
    input: () => questionInput("search", {}, []),
    output: (schemas) => answerOutput(schemas, "SearchPage"),
    async call(recorder, { q = "", ...filters }) {
      const page = await pageThatFits("results", filters.limit, (limit) =>
        recorder.search(q as string, { ...filters, limit } as Parameters<Recorder["search"]>[1]),
      );
      return recordedAnswer({ ...page });
    },
  },
  get_entry: {
    title: "One entry, whole",
    description:
      "Gets an entry by its id or position. One that is too long comes as parts of its JSON text, one after the other.",
    route: "GET /entries/:id",
    input: () => ({
      type: "object",
      properties: { id: { type: ["string", "integer"], description: "Its id or position." }, cursor: cursorProperty },
      required: ["id"],
      additionalProperties: false,
    }),
    output: (schemas) => {
      const { properties, required } = envelopeOf(schemas);
      const part = { ...text, description: "A part of its JSON text, where it does not fit whole." };
      return { type: "object", properties: { ...properties, part, next_cursor: nextCursor }, required };
    },
    call: getEntry,
  },
  session_context: {
    title: "A session as model input",
    description:
      "Hands a session back as messages that a provider takes: after the last clear and consolidation (whose summary " +
      "stands in front), every tool call with its result.",
    route: "GET /sessions/:id/history",
    input() {
      // What a model reads is always masked.
      const { id: _, masked: __, ...input } = operations.getHistory.input;
      const { properties, ...rest } = operationInput({ input }, ["session_id"]);
      const own = { session_id: textInput("The session, by its exact id."), cursor: cursorProperty };
      return { ...rest, properties: { ...own, ...properties } };
    },
    output: () =>
      object({ messages: { type: "array", items: { type: "object" } }, system: text, next_cursor: nextCursor }, [
        "system",
      ]),
    call: sessionContext,
  },
} satisfies { readonly [name: string]: Tool };

async function getEntry(recorder: Recorder, { id, cursor, ...others }: Arguments): Promise<ToolAnswer> {
  refuseOthers(others);
  const entry = await recorder.showEntry(toId(id));
  if (entry === undefined) throw entryNotFound(id);
  if (fits(entry) && (cursor ?? "") === "") return recordedAnswer({ ...entry, next_cursor: null });
  const { position, kind, created_at, recorded_at, recorded_by, session_id, project, client, hash } = entry;
  const envelope = { position, id: entry.id, kind, created_at, recorded_at, recorded_by, session_id, project, client };
  // Beside the part stand the envelope and its own quotation marks.
  const part = pieceOf(JSON.stringify(entry), cursor, PART_BYTES_MAX);
  return recordedAnswer({ ...envelope, hash, part: part.text, next_cursor: part.next_cursor }, part.text);
}

const PART_BYTES_MAX = 28 * 1024;

async function sessionContext(recorder: Recorder, { session_id, cursor, ...options }: Arguments): Promise<ToolAnswer> {
  if (typeof session_id !== "string") throw missing("session_id");
  const { messages, ...rest } = (await recorder.operate(operations.getHistory, {
    ...knownOptions(options, HISTORY_OPTIONS),
    id: session_id,
    masked: true,
  })) as { readonly messages: readonly { readonly role: string }[] };
  const start = placeOf(cursor, (offset) =>
    offset <= messages.length ? JSON.stringify(messages.slice(0, offset)) : undefined,
  );
  const rows = messages.slice(start).map((message) => shortened(message) ?? { role: message.role, content: "" });
  const head = shortened(rest) ?? {};
  const end = start + countThatFits(rows, { ...head, next_cursor: CURSOR_SAMPLE });
  const next_cursor = end < messages.length ? cursorAt(end, JSON.stringify(messages.slice(0, end))) : null;
  return recordedAnswer({ messages: rows.slice(0, end - start), ...head, next_cursor });
}

/** Whether it is masked is not for the caller to say. */
const HISTORY_OPTIONS = Object.keys(operations.getHistory.input).filter((name) => name !== "id" && name !== "masked");

const CURSOR_SAMPLE = "0".repeat(40);

function object(properties: { readonly [name: string]: JsonSchema }, optional: readonly string[] = []) {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: "object", properties, required };
}

function toId(id: unknown): string | number {
  if (typeof id !== "string" && typeof id !== "number") throw missing("id");
  return id;
}

function entryNotFound(id: unknown): RecorderError {
  return new RecorderError(notFound("entry", id));
}

function missing(field: string): RecorderError {
  return new RecorderError({ code: "field_missing", field, message: `${field} is missing` });
}

function refuseOthers(others: Arguments): void {
  const [field] = Object.keys(others);
  if (field === undefined) return;
  throw new RecorderError({
    code: "parameter_unknown",
    field,
    message: `there is no argument ${JSON.stringify(field)}`,
  });
}
