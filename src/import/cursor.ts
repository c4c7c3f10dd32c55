// Cursor's agent transcripts: messages without ids, times or tool results.
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";
import type { ImportSource, ImportStep, LineImporter, Opening } from "./importer.js";
import { oneByOne } from "./lines.js";
import { blocksOf, blockTexts, onlyText, textAt } from "./transcript/fields.js";
import type { AnswerPart } from "./transcript/model-answer.js";
import type { SessionState, TranscriptState } from "./transcript/transcript.js";
import { Transcript } from "./transcript/transcript.js";

const tool = {
  format: "cursor",
  lacks: ["times", "tool results", "model", "usage", "system prompt", "tool definitions", "working folder"],
};

export const cursorImporter: LineImporter = {
  format: tool.format,
  reads: "lines",
  recognises: ({ records }: Opening) => records.some(isTurn),
  read,
};

function isTurn(record: JsonObject): boolean {
  const { role, message } = record;
  return (
    (role === "user" || role === "assistant") && isJsonObject(message) && "content" in message && !("type" in record)
  );
}

interface CursorState {
  readonly transcript: TranscriptState;
  readonly session: SessionState;
  readonly calls: number;
}

async function* read(source: ImportSource): AsyncGenerator<ImportStep> {
  const known = source.resume.state as CursorState | undefined;
  const transcript = new Transcript(tool, source, known?.transcript);
  const session = known === undefined ? transcript.session(source.stem) : transcript.revive(known.session);
  let calls = known?.calls ?? 0;
  source.resume.onSave((): CursorState => ({ transcript: transcript.state(), session: session.state(), calls }));
  yield* session.about({ line: 0, at: undefined }, {});
  for await (const item of oneByOne(source.records())) {
    if ("reason" in item) {
      yield item;
      continue;
    }
    const { line, record } = item;
    const at = record.timestamp;
    const content = isJsonObject(record.message) ? record.message.content : undefined;
    const origin = { line, at, identity: [record.role ?? "", content ?? record] };
    if (!isTurn(record)) yield session.raw(origin, record);
    else if (record.role === "user") {
      const { said, injected } = unwrapped(content ?? "");
      if (injected !== "") {
        const of = { ...origin, identity: ["injected", content ?? ""] };
        yield session.message(of, { role: "user", content: injected, injected: "environment" });
      }
      yield session.message(origin, { role: "user", content: said });
    } else {
      const parts = blocksOf(content).map((block): AnswerPart => {
        const id = `part-${line}`;
        if (block.type === "text") return { id, text: textAt(block, "text") ?? "" };
        if (block.type !== "tool_use") return { id, block };
        calls += 1;
        const call = {
          id: textAt(block, "id") ?? `call-${calls}`,
          name: textAt(block, "name") ?? "unknown",
          args: block.input ?? {},
        };
        return { id, call };
      });
      yield* session.say(String(line), origin, { line, at, parts });
      yield* session.close();
    }
  }
}

/** The user's text is in a tag; the text around it is the editor's. */
function unwrapped(content: JsonValue): { readonly said: JsonValue; readonly injected: string } {
  const blocks = blocksOf(content);
  const isText = blocks.every(({ type, text }) => type === "text" && typeof text === "string");
  const text = onlyText(content) ?? (isText && blocks.length > 0 ? blockTexts(blocks) : undefined);
  const [whole, query] = /<user_query>\n?([\s\S]*?)\n?<\/user_query>/.exec(text ?? "") ?? [];
  if (text === undefined || whole === undefined) return { said: onlyText(content) ?? content, injected: "" };
  return { said: query ?? "", injected: text.replace(whole, "").trim() };
}
