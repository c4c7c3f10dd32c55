// Transcripts of real agents compared with what a scripted model saw: prompts, answers, calls, failures, tokens, for answers which
// phrases were in their requests, and whole requests where they are at hand.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Entry, Recorder } from "../../src/index.js";
import { contentTexts } from "../../src/model/content.js";
import type { EntryOf } from "../../src/model/entry.js";
import type { JsonObject } from "../../src/model/json.js";
import { readRole } from "../../src/model/roles.js";
import { importBench } from "../support/import-target.js";
import { leaves } from "../support/request-texts.js";

/** What the model server counted of one session; an agent with one session has it without a name. */
interface Truth {
  readonly prompts: readonly string[];
  readonly failed_calls: number;
  readonly account: TruthAccount;
  readonly told: readonly TruthTold[];
}

interface TruthAccount extends TokenCounts {
  readonly answers: number;
  readonly calls: number;
  readonly of_them_compactions_and_asides: TokenCounts;
}

/** One request, as the model server answered it. */
interface LedgerLine {
  readonly status: number;
  /** In brackets where it is no answer: a title, or a summary for a compaction. */
  readonly script?: string;
  readonly say?: string;
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly args: JsonObject }[];
  readonly usage?: { readonly input: number; readonly cached: number; readonly output: number };
  readonly session?: string;
}

interface TokenCounts {
  readonly input_tokens_with_cached: number;
  readonly cached_tokens: number;
  readonly output_tokens: number;
}

interface TruthTold {
  readonly answer: string;
  readonly id: string;
  readonly given: readonly string[];
  readonly not_given: readonly string[];
}

/** How often `told` was right, said that it does not know, and was wrong. */
export interface ToldCounts {
  right: number;
  unknown: number;
  wrong: number;
}

export interface AgentResult {
  /** What differs, by what was compared. */
  readonly problems: { readonly [check: string]: readonly string[] };
  readonly told: ToldCounts;
  /** How many answers have an exact context, of how many. */
  readonly exact: { readonly answers: number; readonly of: number };
}

export function agentsIn(folder: string): readonly string[] {
  return readdirSync(folder).filter((name) => existsSync(join(folder, name, "truth.json")));
}

export async function compareAgent(folder: string): Promise<AgentResult> {
  const bench = importBench();
  const { recorder } = bench;
  await bench.import(join(folder, "home"));
  const problems: { [check: string]: string[] } = {};
  const note = (check: string, ...found: readonly string[]): void => {
    problems[check] = [...(problems[check] ?? []), ...found];
  };
  const told: ToldCounts = { right: 0, unknown: 0, wrong: 0 };
  const exact = { answers: 0, of: 0 };
  const entries = await bench.entries();
  const ledger = ledgerIn(folder);
  const written = writtenIn(join(folder, "home"));
  for (const [named, truth] of truthsIn(folder)) {
    const main = named ?? (await onlySession(recorder));
    const own = entries.filter(({ session_id }) => session_id === main || session_id.startsWith(`${main}/`));
    const isMain = ({ session_id }: Entry): boolean => session_id === main;
    compare(note, "prompts", truth.prompts.map(plainPrompt), own.filter(isMain).flatMap(promptIn));
    const lines = ledger.filter(({ session }) => session === named);
    const answers = lines.filter(({ status, script = "(none)" }) => status === 200 && !script.startsWith("("));
    compare(note, "answers", truth.account.answers, answers.length);
    compare(note, "answers", answers.map(({ say = "" }) => say.trim()).sort(), own.flatMap(wordsOfAnswer).sort());
    const calls = own.filter((entry) => entry.kind === "tool_call" && entry.tool !== "!");
    compare(note, "calls", truth.account.calls, calls.length);
    compare(note, "calls", answers.flatMap(callsAsked).sort(), calls.flatMap(callRecorded).sort());
    const failed = calls.filter((call) => call.kind === "tool_call" && call.is_error === true);
    compare(note, "failures", truth.failed_calls, failed.length);
    compareTokens(note, { account: truth.account, asides: tokensOfAsides(lines) }, await tokensOf(recorder, main));
    for (const asked of truth.told)
      note("told", ...(await compareTold({ recorder, entries: own, written }, asked, told)));
    for (const entry of own) {
      if (!isAnswer(entry)) continue;
      exact.of += 1;
      if ((await recorder.context(entry.id))?.exact === true) exact.answers += 1;
    }
  }
  const again = await bench.import(join(folder, "home"));
  compare(note, "again", 0, again.added);
  return {
    problems: Object.fromEntries(Object.entries(problems).filter(([, found]) => found.length > 0)),
    told,
    exact,
  };
}

function truthsIn(folder: string): readonly (readonly [session_id: string | undefined, truth: Truth])[] {
  const read = JSON.parse(readFileSync(join(folder, "truth.json"), "utf8")) as Truth & {
    readonly sessions?: { readonly [session_id: string]: Truth };
  };
  return read.sessions === undefined ? [[undefined, read]] : Object.entries(read.sessions);
}

function ledgerIn(folder: string): readonly LedgerLine[] {
  const lines = readFileSync(join(folder, "ledger.jsonl"), "utf8").trim().split("\n");
  return lines.map((line) => JSON.parse(line) as LedgerLine);
}

/** Everything in the agent's own folders, as text: what is nowhere in there no record can know. */
function writtenIn(home: string): string {
  const files = readdirSync(home, { recursive: true, encoding: "utf8", withFileTypes: true });
  const own = files.filter((file) => file.isFile() && /[\\/]\./.test(file.parentPath));
  return own.map((file) => readFileSync(join(file.parentPath, file.name), "utf8")).join("\n");
}

/** The one that came from no other. */
async function onlySession(recorder: Recorder): Promise<string> {
  const { sessions } = await recorder.listSessions();
  return sessions.find(({ parent, messages }) => parent === "" && messages > 0)?.session_id ?? "";
}

function compare(note: (check: string, found: string) => void, check: string, truth: unknown, found: unknown): void {
  const [expected, actual] = [JSON.stringify(truth), JSON.stringify(found)];
  if (expected !== actual) note(check, `${expected} is ${actual}`);
}

/** Without the name of the script, which the model server read, the quotes of a command line, and a note on how it was typed. */
function plainPrompt(prompt: string): string {
  return prompt
    .replace(/^"(.*)"\s*$/s, "$1")
    .replace(/ \(terminal\)$/, "")
    .replace(/\s*\[\[\w+\]\]\s*$/, "");
}

function promptIn(entry: Entry): readonly string[] {
  if (entry.kind === "tool_call" && entry.tool === "!") return [`!${entry.args.command}`];
  if (entry.kind !== "message" || readRole(entry.role) !== "user" || entry.injected !== "") return [];
  return [plainPrompt(typeof entry.content === "string" ? entry.content : JSON.stringify(entry.content))];
}

/** What the tool put there in the model's name is none. */
function isAnswer(entry: Entry): entry is EntryOf<"message"> {
  if (entry.kind !== "message" || readRole(entry.role) !== "assistant") return false;
  return entry.extra.model !== "<synthetic>" && entry.injected === "";
}

/** The calls of an answer may have come after its words. */
function wordsOfAnswer(entry: Entry): readonly string[] {
  if (!isAnswer(entry)) return [];
  const words = contentTexts(entry.content).join("\n").trim();
  return words === "" && entry.extra.continues !== undefined ? [] : [words];
}

/** With the values of its arguments, since tools name some of them otherwise; Gemini CLI puts a tool's name before an id. */
function callsAsked({ calls = [] }: LedgerLine): readonly string[] {
  return calls.map(({ id, args }) => `${id} ${leaves(args)}`);
}

function callRecorded(entry: Entry): readonly string[] {
  return entry.kind === "tool_call" ? [`${entry.tool_call_id.replace(/^.*__/, "")} ${leaves(entry.args)}`] : [];
}

function tokensOfAsides(lines: readonly LedgerLine[]): TokenCounts {
  const asides = lines.filter(({ script }) => script === "(aside)").flatMap(({ usage }) => usage ?? []);
  const sum = (name: "input" | "cached" | "output"): number => asides.reduce((all, usage) => all + usage[name], 0);
  return { input_tokens_with_cached: sum("input"), cached_tokens: sum("cached"), output_tokens: sum("output") };
}

/** With subagents; compactions count where the source tells of them. */
async function tokensOf(recorder: Recorder, main: string): Promise<TokenCounts> {
  const { rows } = await recorder.usage({ by: "session" });
  const own = rows.filter(({ session = "" }) => session === main || session.startsWith(`${main}/`));
  const sum = (name: "input_tokens" | "cache_read_tokens" | "output_tokens"): number =>
    own.reduce((total, row) => total + row[name], 0);
  return {
    input_tokens_with_cached: sum("input_tokens"),
    cached_tokens: sum("cache_read_tokens"),
    output_tokens: sum("output_tokens"),
  };
}

/** Some providers count cached tokens as input, others beside it. */
function isSameUsage(truth: TokenCounts, found: TokenCounts): boolean {
  if (truth.cached_tokens !== found.cached_tokens || truth.output_tokens !== found.output_tokens) return false;
  const { input_tokens_with_cached: input, cached_tokens: cached } = found;
  return [input, input + cached].includes(truth.input_tokens_with_cached);
}

/** A request for a title is in no transcript. */
function compareTokens(
  note: (check: string, found: string) => void,
  { account, asides }: { readonly account: TruthAccount; readonly asides: TokenCounts },
  found: TokenCounts,
): void {
  const paid = minus(account, asides);
  if (isSameUsage(paid, found)) return;
  const left = minus(account.of_them_compactions_and_asides, asides);
  if (isSameUsage(minus(paid, left), found)) note("tokens of compactions", `${JSON.stringify(left)} are not counted`);
  else note("tokens", `${JSON.stringify(account)} is ${JSON.stringify(found)}`);
}

function minus(all: TokenCounts, left: TokenCounts): TokenCounts {
  return {
    input_tokens_with_cached: all.input_tokens_with_cached - left.input_tokens_with_cached,
    cached_tokens: all.cached_tokens - left.cached_tokens,
    output_tokens: all.output_tokens - left.output_tokens,
  };
}

/** An answer by its provider's id, else by its words, the newest. */
function answerIn(entries: readonly Entry[], { id, answer }: TruthTold): Entry | undefined {
  const answers = entries.filter(isAnswer);
  return (
    answers.findLast(({ extra }) => extra.message_id === id) ??
    answers.findLast(
      (entry) =>
        entry.kind === "message" && JSON.stringify(entry.content).includes(JSON.stringify(answer).slice(1, -1)),
    )
  );
}

/** What was found nowhere is unknown; what the tool wrote down is known. */
async function compareTold(
  {
    recorder,
    entries,
    written,
  }: { readonly recorder: Recorder; readonly entries: readonly Entry[]; readonly written: string },
  asked: TruthTold,
  told: ToldCounts,
): Promise<readonly string[]> {
  const answer = answerIn(entries, asked);
  if (answer === undefined) return [`the answer ${JSON.stringify(asked.answer)} is missing`];
  const problems: string[] = [];
  for (const [phrases, isGiven] of [
    [asked.given, true],
    [asked.not_given, false],
  ] as const) {
    for (const phrase of phrases) {
      const { verdict, lacks = [] } = (await recorder.told(answer.id, phrase)) ?? { verdict: "missing" };
      const isWritten = written.includes(phrase) || written.includes(JSON.stringify(phrase).slice(1, -1));
      const mayBeMissing = lacks.some((part) => part !== "tool definitions") && !(isGiven && isWritten);
      // The truth is about bytes, and searches ignore case.
      const isOtherCase = !isGiven && verdict === "given" && !(await holdsExactly(recorder, answer, phrase));
      if (verdict === "unknown" && mayBeMissing) told.unknown += 1;
      else if (isGiven ? verdict === "given" : ["never", "fell_out"].includes(verdict) || isOtherCase) told.right += 1;
      else {
        told.wrong += 1;
        problems.push(
          `${JSON.stringify(asked.answer)}, ${isGiven ? "given" : "not given"} ${JSON.stringify(phrase)}: ${verdict}`,
        );
      }
    }
  }
  return problems;
}

async function holdsExactly(recorder: Recorder, { id }: Entry, phrase: string): Promise<boolean> {
  const { messages, system, tools } = (await recorder.context(id)) ?? {};
  return JSON.stringify({ messages, system, tools }).includes(JSON.stringify(phrase).slice(1, -1));
}
