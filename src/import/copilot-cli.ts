// GitHub Copilot CLI's sessions: one file of events, those of subagents included. A rewind takes lines out of the file;
// what was recorded of them stays.
import { isJsonObject, type JsonObject, type JsonValue } from "../model/json.js";
import type { Injection } from "../model/roles.js";
import { toUsage, type Usage, type UsageNames } from "../model/usage.js";
import type { ImportSource, ImportStep, LineImporter, Opening } from "./importer.js";
import { Branches, type BranchesState } from "./transcript/branches.js";
import { numberAt, objectAt, textAt } from "./transcript/fields.js";
import { type LineReader, readWith } from "./transcript/line-reader.js";
import { type AnswerPart, addUsage } from "./transcript/model-answer.js";
import { beyond } from "./transcript/totals.js";
import {
  type Origin,
  type SessionState,
  Transcript,
  type TranscriptSession,
  type TranscriptState,
} from "./transcript/transcript.js";

const tool = { format: "copilot-cli", lacks: ["tool definitions"] };

const usageNames: UsageNames = {
  input_tokens: [["inputTokens"]],
  output_tokens: [["outputTokens"]],
  cache_read_tokens: [["cacheReadTokens"]],
  cache_write_tokens: [["cacheWriteTokens"]],
  reasoning_tokens: [["reasoningTokens"]],
};

const EVENT = /^(?:session|user|assistant|tool|system|subagent|skill|hook)\.\w+$|^abort$/;
/** Calls that run, and usages whose answer did not come yet; of more than these, the oldest are dropped. */
const OPEN_MAX = 1_000;

export const copilotCliImporter: LineImporter = {
  format: tool.format,
  reads: "lines",
  recognises: ({ records }: Opening) => records.some(isEvent),
  async *read(source) {
    const events = new Events(source, source.resume.state as EventsState | undefined);
    const named = await titleNear(source);
    if (named !== undefined) events.name(named);
    yield* readWith(source, events);
  },
};

function isEvent(record: JsonObject): boolean {
  const isPlaced = textAt(record, "id") !== undefined && "parentId" in record;
  return EVENT.test(String(record.type)) && isJsonObject(record.data) && (isPlaced || record.type === "session.start");
}

/** The name that the tool or the user gave the session, which is in a file next to it. */
async function titleNear({ siblings }: ImportSource): Promise<string | undefined> {
  const [, line = ""] = /^name:(.*)$/m.exec((await siblings.read("workspace.yaml")) ?? "") ?? [];
  const name = line.trim();
  const [, quoted] = /^(["'].*["'])$/.exec(name) ?? [];
  if (quoted === undefined) return name === "" || /^[|>]/.test(name) ? undefined : name;
  try {
    return quoted.startsWith("'") ? quoted.slice(1, -1).replaceAll("''", "'") : String(JSON.parse(quoted));
  } catch {
    return undefined;
  }
}

interface EventsState {
  readonly transcript: TranscriptState;
  readonly branches: BranchesState;
  readonly key: string | undefined;
  readonly agents: ReadonlyMap<string, AgentState>;
  readonly tasks: ReadonlyMap<string, string>;
  readonly usages: ReadonlyMap<string, PendingUsage>;
  readonly accounted: ReadonlyMap<string, Usage>;
}

interface AgentState {
  readonly session: SessionState;
  readonly model: string | undefined;
  readonly system: SystemPrompt | undefined;
  readonly thought: string | undefined;
  readonly runs: ReadonlyMap<string, Run>;
}

interface SystemPrompt {
  readonly native: string;
  readonly text: string;
}

/** A call that runs. */
interface Run {
  readonly at: JsonValue;
  readonly tool: string | undefined;
  readonly args: JsonValue | undefined;
}

/** A usage that was told before the answer that it is of. */
interface PendingUsage {
  readonly agent: string;
  readonly origin: Origin;
  readonly record: JsonObject;
  readonly usage: Usage;
  readonly model: string | undefined;
}

class Events implements LineReader {
  readonly #transcript: Transcript;
  readonly #branches: Branches;
  readonly #clock: ImportSource["clock"];
  readonly #isGrowing: () => boolean;
  /** The main session has no name here. */
  readonly #agents = new Map<string, Agent>();
  /** What subagents were asked to do, by the call that started them. */
  readonly #tasks: Map<string, string>;
  readonly #usages: Map<string, PendingUsage>;
  /** Tokens of each model that answers, or totals before, account for. */
  readonly #accounted: Map<string, Usage>;
  /** Whose event came last: what an agent says ends what another was saying. */
  #last: Agent | undefined;
  #key: string;
  #title: string | undefined;

  constructor(source: ImportSource, known?: EventsState) {
    this.#transcript = new Transcript(tool, source, known?.transcript);
    this.#branches = new Branches(tool.format, known?.branches);
    this.#clock = source.clock;
    this.#isGrowing = source.isGrowing;
    const [, folder] = /([^\\/]+)[\\/]events\.jsonl(?:\.\d+)?$/.exec(source.path) ?? [];
    this.#key = known?.key ?? folder ?? source.stem;
    this.#tasks = new Map(known?.tasks);
    this.#usages = new Map(known?.usages);
    this.#accounted = new Map(known?.accounted);
    for (const [name, agent] of known?.agents ?? []) {
      this.#agents.set(name, { ...agent, session: this.#transcript.revive(agent.session), runs: new Map(agent.runs) });
    }
  }

  state(): EventsState {
    const agents = [...this.#agents].map(
      ([name, agent]) => [name, { ...agent, session: agent.session.state() }] as const,
    );
    return {
      transcript: this.#transcript.state(),
      branches: this.#branches.state(),
      key: this.#key,
      agents: new Map(agents),
      tasks: this.#tasks,
      usages: this.#usages,
      accounted: this.#accounted,
    };
  }

  name(title: string): void {
    this.#title = title;
  }

  *take(line: number, record: JsonObject): Generator<ImportStep> {
    const origin: Origin = { line, at: record.timestamp, native: textAt(record, "id"), identity: [record] };
    if (!isJsonObject(record.data)) {
      yield* this.#agent("").session.queue(this.#agent("").session.raw(origin, record));
      return;
    }
    const { data } = record;
    if (record.type === "session.start") this.#key = textAt(data, "sessionId") ?? this.#key;
    const agent = this.#agent(textAt(record, "agentId") ?? textAt(data, "parentToolCallId") ?? "");
    if (agent !== this.#last)
      for (const other of this.#agents.values()) if (other !== agent) yield* other.session.close();
    this.#last = agent;
    yield* this.#event(agent, origin, record, data);
    const main = this.#agent("").session;
    if (this.#title !== undefined)
      for (const step of main.about(origin, { title: this.#title })) yield* main.queue(step);
  }

  *end(): Generator<ImportStep> {
    for (const { session } of this.#agents.values()) yield* session.close();
    if (!this.#isGrowing()) for (const id of [...this.#usages.keys()]) yield* this.#unclaimed(id);
  }

  #agent(name: string): Agent {
    const known = this.#agents.get(name);
    if (known !== undefined) return known;
    const session = name === "" ? this.#transcript.session(this.#key) : this.#agent("").session.child(`agent-${name}`);
    const agent: Agent = { session, model: undefined, system: undefined, thought: undefined, runs: new Map() };
    this.#agents.set(name, agent);
    return agent;
  }

  *#event(agent: Agent, origin: Origin, record: JsonObject, data: JsonObject): Generator<ImportStep> {
    const { session } = agent;
    switch (record.type) {
      case "session.start":
      case "session.resume":
        yield* session.close();
        agent.model = textAt(data, "selectedModel") ?? agent.model;
        yield* session.about(origin, factsOf(data));
        break;
      case "session.model_change":
        agent.model = textAt(data, "newModel") ?? agent.model;
        break;
      case "system.message":
        if (yield* this.#system(agent, origin, data)) return;
        break;
      case "user.message":
        yield* this.#user(session, origin, data, record.agentId !== undefined || "parentToolCallId" in data);
        return;
      case "system.notification":
        yield* session.close();
        yield session.message(origin, { role: "user", content: data.content ?? "", injected: "reminder" });
        return;
      case "assistant.reasoning":
        agent.thought = textAt(data, "content");
        break;
      case "assistant.message":
        yield* this.#answer(agent, origin, data);
        return;
      case "session.usage_record":
        yield* this.#usage(agent, origin, record, data);
        return;
      case "tool.execution_start":
      case "tool.user_requested":
        keep(agent.runs, textAt(data, "toolCallId") ?? "", {
          at: record.timestamp ?? null,
          tool: textAt(data, "toolName"),
          // What was asked for in an answer has its arguments there.
          args: this.#tasks.has(textAt(data, "toolCallId") ?? "") ? undefined : data.arguments,
        });
        return;
      case "tool.execution_complete":
        yield* this.#result(agent, origin, data);
        return;
      case "subagent.started":
        yield* session.about(origin, {
          title: this.#tasks.get(textAt(data, "toolCallId") ?? "") || textAt(data, "agentDisplayName"),
        });
        break;
      case "session.error":
        yield* session.close();
        yield session.error(
          { ...origin, extra: { details: data } },
          textAt(data, "message") ?? JSON.stringify(data),
          textAt(data, "errorType"),
        );
        return;
      case "session.compaction_complete":
        if (yield* this.#compaction(session, origin, data)) return;
        break;
      case "session.shutdown":
        yield* this.#total(session, origin, record, data);
        return;
    }
    const usage = toUsage(data.compactionTokensUsed, usageNames);
    const model = textAt(objectAt(data, "compactionTokensUsed"), "model");
    const extra = usage === undefined ? undefined : spentOn("compaction", usage, model);
    yield* session.queue(session.raw({ ...origin, extra }, record));
  }

  /** The system prompt as it is from now on; false where it is what it was. */
  *#system(agent: Agent, origin: Origin, data: JsonObject): Generator<ImportStep, boolean> {
    const text = textAt(data, "content");
    if (text === undefined || origin.native === undefined) return false;
    const before = agent.system;
    // It is written again with every turn.
    if (before?.text === text) return true;
    agent.system = { native: origin.native, text };
    yield* agent.session.close();
    if (before !== undefined) yield* this.#branches.applySwitch(agent.session, { left: [before.native], back: [] });
    yield agent.session.message(origin, { role: "system", content: text, injected: "other" });
    return true;
  }

  *#user(session: TranscriptSession, origin: Origin, data: JsonObject, isAgent: boolean): Generator<ImportStep> {
    yield* session.close();
    const content = textAt(data, "content") ?? "";
    const given = textAt(data, "transformedContent");
    const injected = injectionOf(data, content, isAgent);
    const at = given === undefined ? -1 : content === "" ? -1 : given.indexOf(content);
    if (given !== undefined && at > 0) yield* around(session, origin, "before", given.slice(0, at));
    const extra = {
      ...(Array.isArray(data.attachments) && data.attachments.length > 0 ? { attachments: data.attachments } : {}),
      ...(textAt(data, "source") === undefined ? {} : { source: data.source ?? "" }),
      ...(given !== undefined && at === -1 && given !== content ? { transformed_content: given } : {}),
    };
    yield session.message(
      { ...origin, ...(Object.keys(extra).length === 0 ? {} : { extra }) },
      { role: "user", content, ...(injected === undefined ? {} : { injected }) },
    );
    if (given !== undefined && at !== -1) yield* around(session, origin, "after", given.slice(at + content.length));
  }

  *#answer(agent: Agent, origin: Origin, data: JsonObject): Generator<ImportStep> {
    const { session } = agent;
    const id = origin.native ?? `line-${origin.line}`;
    const call = textAt(data, "apiCallId");
    const model = textAt(data, "model") ?? agent.model;
    const told = call === undefined ? undefined : this.#usages.get(call);
    if (call !== undefined && told !== undefined) {
      this.#usages.delete(call);
      yield* session.queue(this.#agent(told.agent).session.raw(told.origin, told.record));
    }
    // A further part of the same answer tells its tokens again.
    const isFurther = session.openKey === (call ?? id);
    const usage = told?.usage ?? (isFurther ? undefined : toUsage(data, { output_tokens: [["outputTokens"]] }));
    this.#account(told?.model ?? model, usage);
    const thought = textAt(data, "reasoningText") ?? agent.thought;
    agent.thought = undefined;
    const requests = Array.isArray(data.toolRequests) ? data.toolRequests.filter(isJsonObject) : [];
    const parts: AnswerPart[] = [];
    if (thought !== undefined) parts.push({ id, thinking: thought });
    const secret = Object.fromEntries(
      ["reasoningOpaque", "encryptedContent"].flatMap((name) => (data[name] === undefined ? [] : [[name, data[name]]])),
    );
    if (Object.keys(secret).length > 0) parts.push({ id, detail: { type: "copilot", ...secret } as JsonObject });
    parts.push({ id, text: textAt(data, "content") ?? "" });
    for (const [nth, request] of requests.entries()) {
      const callId = textAt(request, "toolCallId") ?? `${id}-call-${nth}`;
      const args = request.arguments ?? {};
      keep(this.#tasks, callId, isJsonObject(args) ? (textAt(args, "description") ?? "") : "");
      parts.push({ id, call: { id: callId, name: textAt(request, "name") ?? "unknown", args } });
    }
    yield* session.say(call ?? id, origin, {
      line: origin.line,
      at: origin.at,
      parts,
      model,
      usage,
      extra: {
        ...(call === undefined ? {} : { message_id: call }),
        ...(textAt(data, "requestId") === undefined ? {} : { request_id: data.requestId ?? "" }),
      },
    });
  }

  *#result(agent: Agent, origin: Origin, data: JsonObject): Generator<ImportStep> {
    const { session } = agent;
    const call_id = textAt(data, "toolCallId") ?? "";
    const run = agent.runs.get(call_id);
    agent.runs.delete(call_id);
    const isUsers = data.isUserRequested === true;
    const args = run?.args;
    const result = objectAt(data, "result");
    const error = objectAt(data, "error");
    const text = result.content ?? textAt(error, "message") ?? "";
    const more = Object.fromEntries(
      Object.entries(result).filter(([name, value]) => name !== "content" && value !== text),
    );
    const [begun, ended] = [this.#clock.parse(run?.at), this.#clock.parse(origin.at)];
    const extra = {
      ...(Object.keys(more).length === 0 ? {} : { result: more as JsonObject }),
      ...(textAt(error, "code") === undefined ? {} : { error_code: error.code ?? "" }),
    };
    if (isUsers) yield* session.close();
    const step = session.result({
      ...origin,
      ...(Object.keys(extra).length === 0 ? {} : { extra }),
      call_id: isUsers ? "" : call_id,
      tool: isUsers ? "!" : run?.tool,
      args: isUsers ? { command: (isJsonObject(args) ? args.command : undefined) ?? "" } : args,
      result: text,
      is_error: hasFailed(data, text),
      duration_ms: begun === undefined || ended === undefined || ended < begun ? undefined : ended - begun,
    });
    yield* session.queue(step);
  }

  /** Newer versions tell of each call's tokens before the answer; those of no answer belong to none. */
  *#usage(agent: Agent, origin: Origin, record: JsonObject, data: JsonObject): Generator<ImportStep> {
    const told = objectAt(data, "usage");
    const usage = toUsage(told, usageNames);
    const id = textAt(told, "apiCallId");
    if (usage === undefined || id === undefined || this.#usages.has(id)) {
      yield* agent.session.queue(agent.session.raw(origin, record));
      return;
    }
    const [name = ""] = [...this.#agents].find(([, other]) => other === agent) ?? [];
    if (this.#usages.size >= OPEN_MAX) yield* this.#unclaimed([...this.#usages.keys()][0] ?? "");
    this.#usages.set(id, { agent: name, origin, record, usage, model: textAt(told, "model") });
  }

  *#unclaimed(id: string): Generator<ImportStep> {
    const told = this.#usages.get(id);
    this.#usages.delete(id);
    if (told === undefined) return;
    this.#account(told.model, told.usage);
    const { session } = this.#agent(told.agent);
    const extra = { ...spentOn("other", told.usage, told.model), message_id: id };
    yield session.raw({ ...told.origin, extra }, told.record);
  }

  *#compaction(session: TranscriptSession, origin: Origin, data: JsonObject): Generator<ImportStep, boolean> {
    const summary = textAt(data, "summaryContent");
    if (data.success !== true || summary === undefined) return false;
    const usage = toUsage(data.compactionTokensUsed, usageNames);
    const model = textAt(objectAt(data, "compactionTokensUsed"), "model");
    const { summaryContent: _, ...details } = data;
    const extra = { details, ...(usage === undefined ? {} : spentOn("compaction", usage, model)) };
    yield* session.compact(
      { ...origin, extra },
      {
        summary,
        kept: [],
        trigger: data.trigger === "manual" ? "manual" : "auto",
        tokens_before: numberAt(data, "preCompactionTokens"),
      },
    );
    return true;
  }

  /** Totals of a session so far: in older versions only they tell of the input. */
  *#total(session: TranscriptSession, origin: Origin, record: JsonObject, data: JsonObject): Generator<ImportStep> {
    for (const { session } of this.#agents.values()) yield* session.close();
    for (const id of [...this.#usages.keys()]) yield* this.#unclaimed(id);
    const snapshot = objectAt(data, "accountingSnapshot");
    const metrics = isJsonObject(data.modelMetrics) ? data.modelMetrics : objectAt(snapshot, "modelMetrics");
    let nth = 0;
    for (const [model, of] of Object.entries(metrics)) {
      const usage = toUsage(isJsonObject(of) ? of.usage : undefined, usageNames);
      const rest = usage === undefined ? undefined : beyond(usage, this.#accounted.get(model));
      if (rest === undefined || origin.native === undefined) continue;
      this.#account(model, rest);
      const native = nth === 0 ? origin.native : `${origin.native}:${nth}`;
      const extra = spentOn("answers", rest, model);
      yield session.raw({ ...origin, native, extra }, nth === 0 ? record : { type: "session.shutdown", model });
      nth += 1;
    }
    if (nth === 0) yield session.raw(origin, record);
  }

  #account(model: string | undefined, usage: Usage | undefined): void {
    if (model === undefined || usage === undefined) return;
    const sum = addUsage(this.#accounted.get(model), usage);
    if (sum !== undefined) this.#accounted.set(model, sum);
  }
}

interface Agent {
  readonly session: TranscriptSession;
  /** Where an answer names none. */
  model: string | undefined;
  system: SystemPrompt | undefined;
  /** A thought that came before its answer. */
  thought: string | undefined;
  readonly runs: Map<string, Run>;
}

function factsOf(data: JsonObject) {
  const context = objectAt(data, "context");
  const repository = textAt(context, "repository");
  return {
    cwd: textAt(context, "cwd"),
    root: textAt(context, "gitRoot"),
    git_branch: textAt(context, "branch"),
    version: textAt(data, "copilotVersion"),
    ...(repository === undefined ? {} : { metadata: { repository } }),
  };
}

/** What is no prompt: texts of skills and of the autopilot, and what one agent asks another. */
function injectionOf(data: JsonObject, content: string, isAgent: boolean): Injection | undefined {
  const source = textAt(data, "source") ?? "";
  if (source.startsWith("skill-") || content.startsWith("<skill-context")) return "command";
  if (data.isAutopilotContinuation === true) return "other";
  // A subagent's task is the prompt of its own session.
  if (source.startsWith("agent-")) return isAgent ? undefined : "other";
  return source === "" || source === "user" || isAgent ? undefined : "other";
}

/** What the model was given around a prompt: the time, reminders. */
function* around(session: TranscriptSession, origin: Origin, name: string, text: string): Generator<ImportStep> {
  if (text.trim() === "") return;
  const native = origin.native === undefined ? undefined : `${origin.native}:${name}`;
  const injected: Injection = name === "before" ? "environment" : "reminder";
  yield session.message({ ...origin, native, identity: [name, text] }, { role: "user", content: text, injected });
}

const EXIT = /<[^<>]*completed with exit code (-?\d+)>\s*$/;
/** The note on how a command ended is at the end of its output. */
const EXIT_CHARS = 300;

/** A command that failed counts as a success there. */
function hasFailed(data: JsonObject, text: JsonValue): boolean | undefined {
  if (data.success === false) return true;
  const noted = typeof text === "string" ? EXIT.exec(text.slice(-EXIT_CHARS))?.[1] : undefined;
  const code = numberAt(objectAt(data, "shellExecution"), "exitCode") ?? (noted === undefined ? 0 : Number(noted));
  return code !== 0 ? true : data.success === true ? false : undefined;
}

function spentOn(what: string, usage: Usage, model: string | undefined): JsonObject {
  return { usage: usage as JsonObject, spent_on: what, ...(model === undefined ? {} : { model }) };
}

function keep<V>(map: Map<string, V>, key: string, value: V): void {
  const [oldest] = map.size < OPEN_MAX ? [] : map.keys();
  if (oldest !== undefined) map.delete(oldest);
  map.set(key, value);
}
