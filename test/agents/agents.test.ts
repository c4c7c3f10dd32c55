// Real coding agents and a scripted model: what the record says of their sessions is what the model was sent and answered.
import { afterAll, describe, expect, test } from "vitest";
import type { Entry } from "../../src/model/entry.js";
import { isJsonObject, type JsonObject } from "../../src/model/json.js";
import { textsOfRequest } from "../support/request-texts.js";
import { type AgentProgram, agentPrograms } from "./agent-programs.js";
import { type AgentRun, RULE, runAgent } from "./agent-run.js";
import { type ModelCall, SUMMARY } from "./scripted-model.js";

const table: { readonly [column: string]: string | number }[] = [];
afterAll(() => console.table(table));

/** Texts that lay before the model at some time, and one that never did. */
const PHRASES = [RULE, "Survey the harbour", "tide-is-high", "long-look", SUMMARY, "purple elephants"];

describe.each(agentPrograms.map((program) => [program.name, program] as const))("%s", (_name, program) => {
  test("prompts, answers, calls, failures and tokens are recorded as they were, each once", async () => {
    const run = await runAgent(program);
    const { prompts, calls, recorder } = run;
    const entries = await entriesOf(run);
    const answers = calls.filter(({ role }) => role === "answer");
    const said = entries.filter((entry) => entry.kind === "message" && entry.injected === "");
    expect(textsOf(said, "user")).toEqual([...prompts, ...promptsOfHelpers(answers)].sort());
    expect(textsOf(said, "assistant")).toEqual(answers.map((call) => call.said).sort());
    expect(callsIn(entries)).toEqual(callsOf(calls));
    const consolidations = entries.filter(({ kind }) => kind === "consolidation");
    expect(consolidations).toMatchObject([{ summary: expect.stringContaining(SUMMARY) }]);
    const paid = calls.filter(({ role }) => role === "answer" || (role === "compaction" && program.countsCompactions));
    const sum = (name: "input" | "cached" | "output"): number => paid.reduce((all, call) => all + call.tokens[name], 0);
    const tokens = { input: sum("input"), cached: sum("cached"), output: sum("output") };
    expect(tokensIn(entries, program)).toEqual(tokens);
    expect((await recorder.usage({})).total.calls).toBe(paid.length);
    expect(await differentContexts(run, entries, program)).toEqual([]);
    const told = await toldOf(run, entries);
    expect(told.wrong).toEqual([]);
    table.push({
      ...{ agent: program.name, requests: calls.length, prompts: prompts.length, answers: answers.length },
      ...{ calls: callsOf(calls).length, failed: callsOf(calls).filter(({ is_error }) => is_error).length },
      ...{ compactions: consolidations.length, ...tokens },
      ...{ contexts: `${answers.length} of ${answers.length}` },
      ...{ told: `${told.asked - told.unknown} right, ${told.unknown} unknown of ${told.asked}, ${told.exact} exact` },
    });
  });
});

async function entriesOf({ recorder }: AgentRun): Promise<readonly Entry[]> {
  const entries: Entry[] = [];
  for (const { session_id } of (await recorder.listSessions({})).sessions) {
    const page = await recorder.session(session_id).entries({ limit: 500 });
    entries.push(...(page.entries as readonly Entry[]));
  }
  return entries;
}

/** Sorted: the sessions of helpers run beside the one that called them. OpenCode puts its prompts in quotes. */
function textsOf(entries: readonly Entry[], role: string): readonly string[] {
  return entries
    .flatMap((entry) => {
      if (entry.kind !== "message" || entry.role !== role) return [];
      const text = textOf(entry.content);
      // The calls of an answer may come after its words.
      return text === "" && entry.extra.continues !== undefined ? [] : [text];
    })
    .map((text) => text.replace(/^"(.*)"\s*$/s, "$1"))
    .sort();
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return (content as readonly { readonly text?: string }[]).map(({ text }) => text ?? "").join("");
}

/** As the tools count them: some leave the cached part out of the input. */
function tokensIn(
  entries: readonly Entry[],
  { countsCachedApart = false }: AgentProgram,
): { readonly input: number; readonly cached: number; readonly output: number } {
  const usages = entries.flatMap(({ extra }) => (isJsonObject(extra.usage) ? [extra.usage] : []));
  const sum = (name: string): number => usages.reduce((all, usage) => all + Number(usage[name] ?? 0), 0);
  const cached = sum("cache_read_tokens");
  return { input: sum("input_tokens") + (countsCachedApart ? cached : 0), cached, output: sum("output_tokens") };
}

/** A helper's first message is what its caller asked of it. */
function promptsOfHelpers(answers: readonly ModelCall[]): readonly string[] {
  return answers
    .flatMap(({ calls }) => calls)
    .flatMap(({ args }) => (typeof args.prompt === "string" ? [args.prompt] : []));
}

interface CountedCall {
  readonly id: string;
  readonly is_error: boolean;
}

/** Gemini CLI puts a tool's name before the id of its call. */
function callsIn(entries: readonly Entry[]): readonly CountedCall[] {
  const found = entries.flatMap((entry) => {
    if (entry.kind !== "tool_call") return [];
    return [{ id: entry.tool_call_id.replace(/^.*__/, ""), is_error: entry.is_error === true }];
  });
  return found.sort((a, b) => a.id.localeCompare(b.id));
}

function callsOf(calls: readonly ModelCall[]): readonly CountedCall[] {
  const fails = (args: object): boolean => /\/no\/such\/|exit 7/.test(JSON.stringify(args));
  const asked = calls.flatMap((call) => call.calls.map(({ id, args }) => ({ id, is_error: fails(args) })));
  return asked.sort((a, b) => a.id.localeCompare(b.id));
}

/** The answers whose context is not what the model was sent: turn by turn, and the system prompt as far as the transcript has it. */
async function differentContexts(
  { recorder, calls }: AgentRun,
  entries: readonly Entry[],
  { system, framesSummary = (turns) => turns }: AgentProgram,
): Promise<readonly unknown[]> {
  const different: unknown[] = [];
  let isCompacted = false;
  for (const call of calls) {
    isCompacted ||= call.role === "compaction";
    if (call.role !== "answer") continue;
    const { messages = [], system: prompt } = (await recorder.context(answerOf(entries, call))) ?? {};
    const told = textsOfRequest({
      messages,
      ...(prompt === undefined ? {} : { system: prompt }),
    } as unknown as JsonObject);
    const sent = textsOfRequest(call.body);
    const turns = isCompacted ? framesSummary(told.turns) : told.turns;
    const missing = lackingIn(system, sent.system, told.system);
    const [expected, found] = [JSON.stringify(sent.turns), JSON.stringify(turns)];
    if (expected !== found || missing.length > 0)
      different.push({ said: call.said, sent: sent.turns, told: turns, missing });
  }
  return different;
}

/** What was sent as a system prompt and is not told; of one that is made from parts, every sentence counts. */
function lackingIn(
  system: AgentProgram["system"],
  sent: readonly string[],
  told: readonly string[],
): readonly string[] {
  if (system === "none") return [];
  if (system === "parts") {
    const whole = told.join("\n");
    return sent.flatMap((text) => text.split(/(?<=\.) | (?=## |- )/)).filter((part) => !whole.includes(part));
  }
  return (system === "whole" ? sent : sent.slice(1)).filter((text) => !told.includes(text));
}

/** The entry of an answer, by its words and calls; the words of one with hooks may have come before its calls. */
function answerOf(entries: readonly Entry[], { said, calls }: ModelCall): string {
  const found = entries.find((entry) => {
    if (entry.kind !== "message" || entry.role !== "assistant" || textOf(entry.content) !== said) return false;
    return entry.tool_calls.length === 0 || calls.every(({ id }) => JSON.stringify(entry.tool_calls).includes(id));
  });
  return found?.id ?? "";
}

/** Asks of every answer which phrases lay in its request. */
async function toldOf(
  { recorder, calls }: AgentRun,
  entries: readonly Entry[],
): Promise<{
  readonly wrong: readonly string[];
  readonly asked: number;
  readonly exact: number;
  readonly unknown: number;
}> {
  const wrong: string[] = [];
  const counts = { asked: 0, exact: 0, unknown: 0 };
  for (const call of calls.filter(({ role }) => role === "answer")) {
    for (const phrase of PHRASES) {
      const told = await recorder.told(answerOf(entries, call), phrase);
      const { verdict = "missing", exact = false, lacks = [] } = told ?? {};
      const isGiven = call.text.includes(phrase);
      counts.asked += 1;
      if (exact) counts.exact += 1;
      if (verdict === "unknown") counts.unknown += 1;
      const mayLack = lacks.some((part) => part !== "tool definitions");
      const isRight = isGiven ? verdict === "given" : verdict === "never" || verdict === "fell_out";
      if (!isRight && !(verdict === "unknown" && mayLack)) {
        wrong.push(`${call.said} | ${phrase} | ${isGiven ? "was" : "was not"} given | ${verdict}`);
      }
    }
  }
  return { wrong, ...counts };
}
