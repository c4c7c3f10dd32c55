// Real coding agents and a scripted model: what the record says of their sessions is what the model was sent and answered.
import { afterAll, describe, expect, test } from "vitest";
import type { Entry } from "../../src/model/entry.js";
import { isJsonObject } from "../../src/model/json.js";
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
    const told = await toldOf(run, entries);
    expect(told.wrong).toEqual([]);
    table.push({
      ...{ agent: program.name, requests: calls.length, prompts: prompts.length, answers: answers.length },
      ...{ calls: callsOf(calls).length, failed: callsOf(calls).filter(({ is_error }) => is_error).length },
      ...{ compactions: consolidations.length, ...tokens },
      ...{ told: `${told.exact} exact, ${told.unknown} unknown of ${told.asked}` },
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

/** Asks of two answers, one before and one after the compaction, which phrases lay in their requests. */
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
  for (const said of ["Three lanterns; the far quay does not exist.", "I answer from what is left."]) {
    const call = calls.find((one) => one.said === said);
    const answer = entries.find((entry) => entry.kind === "message" && textOf(entry.content) === said);
    for (const phrase of PHRASES) {
      const told = await recorder.told(answer?.id ?? "", phrase);
      const { verdict, exact } = told as { readonly verdict: string; readonly exact: boolean };
      const isGiven = call?.text.includes(phrase) === true;
      counts.asked += 1;
      if (exact) counts.exact += 1;
      if (verdict === "unknown") counts.unknown += 1;
      const isWrong = isGiven ? verdict === "never" || verdict === "fell_out" : verdict === "given";
      if (isWrong) wrong.push(`${said} | ${phrase} | ${isGiven ? "was" : "was not"} given | ${verdict}`);
    }
  }
  return { wrong, ...counts };
}
