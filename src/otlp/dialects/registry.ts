// The dialects, the most specific first: a span means what the first one says that knows it.
import type { Dialect, LogReading, SpanMeaning } from "../meaning.js";
import type { LogItem, SpanItem } from "../telemetry-items.js";
import { aiSdk } from "./ai-sdk.js";
import { claudeCode } from "./claude-code.js";
import { codex } from "./codex.js";
import { geminiCli } from "./gemini-cli.js";
import { genAi } from "./gen-ai.js";
import { langfuse } from "./langfuse.js";
import { openInference } from "./open-inference.js";
import { openLlmetry } from "./open-llmetry.js";

const dialects: readonly Dialect[] = [
  ...[claudeCode, codex, geminiCli],
  ...[aiSdk, langfuse, openInference, openLlmetry],
  // Many of the others write its attributes as well.
  genAi,
];

export function meaningOf(span: SpanItem): { readonly dialect: string; readonly meaning: SpanMeaning } | undefined {
  for (const { name, span: read } of dialects) {
    const meaning = read?.(span);
    if (meaning !== undefined) return { dialect: name, meaning };
  }
  return undefined;
}

export function meaningsOf(
  logs: readonly LogItem[],
  spans: readonly SpanItem[],
): readonly (LogReading & { readonly dialect: string })[] {
  return dialects.flatMap(({ name, logs: read }) =>
    (read?.(logs, spans) ?? []).map((reading) => ({ ...reading, dialect: name })),
  );
}
