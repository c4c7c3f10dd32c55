// A model on loopback that answers real coding agents by a script, and keeps what each request said and how it was answered.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { isJsonObject, type JsonObject, parseJsonObject } from "../../src/model/json.js";
import {
  type AnsweredCall,
  type Dialect,
  type DialectName,
  dialectOf,
  type ModelRequest,
  type ModelTokens,
  type OfferedTool,
} from "./dialects.js";

/** What the model does in one answer: it speaks, and lets the agent's own tools work. */
export interface ScriptStep {
  readonly say?: string;
  readonly think?: string;
  /** Commands to run, all in one answer. */
  readonly run?: readonly string[];
  readonly write?: { readonly path: string; readonly text: string };
  readonly delegate?: { readonly title: string; readonly prompt: string };
  /** A tool of the record's MCP server, with its arguments. */
  readonly ask?: { readonly tool: string; readonly args: JsonObject };
  /** Refuses with this status, once; then the next step answers. */
  readonly refuse?: number;
  /** What it claims to have read: agents compact their sessions by it. */
  readonly input_tokens?: number;
}

/** Steps by the name that a prompt carries: `Count them. (script count)`. */
export type Scripts = { readonly [name: string]: readonly ScriptStep[] };

export const SUMMARY = "The harbour was surveyed; details were left out.";

/** What became of one request. */
export interface ModelCall {
  readonly dialect: DialectName;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: JsonObject;
  /** The request as it was sent, for looking phrases up. */
  readonly text: string;
  readonly role: "answer" | "compaction" | "aside" | "refused";
  readonly said: string;
  readonly calls: readonly AnsweredCall[];
  readonly tokens: ModelTokens;
}

export interface ScriptedModel {
  readonly address: string;
  readonly calls: readonly ModelCall[];
  close(): Promise<void>;
}

export async function startScriptedModel(scripts: Scripts): Promise<ScriptedModel> {
  const director = new Director(scripts);
  const calls: ModelCall[] = [];
  const server = createServer((request, response) => {
    void answer(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString("utf8");
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    const found = request.method === "POST" ? dialectOf(pathname) : undefined;
    const body = parseJsonObject(text);
    if (found === undefined || body === undefined) {
      // Programs ask for lists of models, and count tokens, which none of them needs.
      const isKnown = /models|count/i.test(pathname);
      response.writeHead(isKnown ? 200 : 404, { "content-type": "application/json" });
      response.end(isKnown ? '{"data":[],"models":[],"input_tokens":100,"totalTokens":100}' : '{"error":{}}');
      return;
    }
    const { name, dialect } = found;
    const asked = dialect.read(body, pathname);
    const { role, step } = director.next(asked);
    const id = `${name}-${calls.length + 1}`;
    const tokens = {
      input: step.input_tokens ?? 1_000 + 10 * calls.length,
      cached: asked.turns.some((turn) => turn.role === "assistant") ? 500 : 0,
      output: 20 + calls.length,
    };
    const made = role === "answer" ? callsOf(step, asked.tools) : [];
    const numbered = made.map((call, index) => ({
      ...call,
      id: `${name === "anthropic" ? "toolu" : "call"}_${id}_${index}`,
    }));
    const said = step.say ?? "";
    const { headers } = request;
    calls.push({ dialect: name, path: pathname, headers, body, text, role, said, calls: numbered, tokens });
    if (step.refuse !== undefined) send(response, step.refuse, [dialect.refusal(step.refuse)]);
    else {
      const document = { id, text: said, thought: step.think, calls: numbered, tokens };
      const parts = dialect.write(document, { isStreamed: asked.isStreamed, body });
      if (asked.isStreamed) stream(response, parts, dialect);
      else send(response, 200, parts);
    }
  }
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

type Parts = ReturnType<Dialect["write"]>;

function send(response: ServerResponse, status: number, [document]: Parts): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(document));
}

function stream(response: ServerResponse, events: Parts, { namesEvents }: Dialect): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const event of events) {
    if (namesEvents && isJsonObject(event)) response.write(`event: ${String(event.type)}\n`);
    response.write(`data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`);
  }
  response.end();
}

/** How programs ask for a summary of what was said, as a user or as the system. */
const SUMMARIZES = {
  user: /create a detailed summary of|CONTEXT CHECKPOINT COMPACTION|anchored summary|structured context checkpoint/i,
  system:
    /distill\w* (?:the )?(?:entire )?(?:chat )?history|state_snapshot|context summarization|summariz\w+ (?:a )?conversation/i,
};
const MARK = /\(script ([\w-]+)\)/g;

/** Chooses the step of a script that comes next, by what the conversation holds. */
class Director {
  readonly #scripts: Scripts;
  readonly #refused = new Set<string>();

  constructor(scripts: Scripts) {
    this.#scripts = scripts;
  }

  next({ system, turns, tools }: ModelRequest): { readonly role: ModelCall["role"]; readonly step: ScriptStep } {
    const newest = turns.findLast(({ role }) => role === "user")?.text ?? "";
    const words = newest.slice(Math.max(0, newest.lastIndexOf("(script ")));
    if (SUMMARIZES.user.test(words) || (tools.length === 0 && SUMMARIZES.system.test(system))) {
      const say = `<summary><state_snapshot>${SUMMARY} (script after)</state_snapshot></summary>`;
      return { role: "compaction", step: { say } };
    }
    const { name, from } = markedIn(turns, this.#scripts);
    if (name === undefined || tools.length === 0) return { role: "aside", step: { say: '{"title":"The harbour"}' } };
    const steps = this.#scripts[name] ?? [];
    const answers = turns.slice(from).filter((turn, index, all) => {
      return turn.role === "assistant" && all[index - 1]?.role !== "assistant";
    }).length;
    const refused = steps.findIndex(({ refuse }) => refuse !== undefined);
    if (refused === answers && !this.#refused.has(name)) {
      this.#refused.add(name);
      return { role: "refused", step: steps[refused] as ScriptStep };
    }
    const given = steps.filter(({ refuse }) => refuse === undefined)[answers];
    return { role: "answer", step: given ?? { say: "Nothing is left to do." } };
  }
}

/** The last script that a user or a summary named, and where the turns after it begin. */
function markedIn(turns: ModelRequest["turns"], scripts: Scripts): { readonly name?: string; readonly from: number } {
  for (let at = turns.length - 1; at >= 0; at -= 1) {
    const names = [...(turns[at]?.text ?? "").matchAll(MARK)].map(([, name]) => name ?? "");
    const name = names.findLast((one) => one in scripts);
    if (name !== undefined) return { name, from: at + 1 };
  }
  return { from: 0 };
}

type UnnumberedCall = Omit<AnsweredCall, "id">;

function callsOf(step: ScriptStep, tools: readonly OfferedTool[]): readonly UnnumberedCall[] {
  const made: UnnumberedCall[] = [];
  for (const command of step.run ?? []) made.push(shellCall(tools, command));
  if (step.write !== undefined) {
    const { path, text } = step.write;
    const written = pick(tools, {
      Write: { file_path: path, content: text },
      write_file: { file_path: path, content: text },
      write: { filePath: path, path, content: text },
    });
    made.push(written ?? shellCall(tools, `printf '%s' '${text}' > '${path}'`));
  }
  if (step.delegate !== undefined) {
    const { title: description, prompt } = step.delegate;
    const args = { description, prompt, subagent_type: "general-purpose" };
    made.push(needed(pick(tools, { Agent: args, Task: args, task: { ...args, subagent_type: "general" } }), tools));
  }
  if (step.ask !== undefined) {
    const { tool: name, args } = step.ask;
    const offered = tools.find((one) => /hansard/.test(one.namespace ?? one.name) && one.name.endsWith(name));
    // Claude Code offers tools of MCP servers only once it has looked for them, and takes calls without that.
    made.push({ tool: offered ?? { name: `mcp__hansard__${name}`, parameters: [] }, args });
  }
  return made;
}

function shellCall(tools: readonly OfferedTool[], command: string): UnnumberedCall {
  const description = "Run a command";
  const found = pick(tools, {
    Bash: { command, description },
    bash: { command, description },
    run_shell_command: { command, description },
    exec_command: { cmd: command },
    shell: { command: ["bash", "-lc", command] },
  });
  return needed(found, tools);
}

function pick(
  tools: readonly OfferedTool[],
  argsByName: { readonly [name: string]: JsonObject },
): UnnumberedCall | undefined {
  for (const tool of tools) {
    const args = argsByName[tool.name];
    if (args === undefined || tool.parameters === undefined) continue;
    const known = Object.entries(args).filter(([name]) => tool.parameters?.includes(name));
    return { tool, args: Object.fromEntries(known) };
  }
  return undefined;
}

function needed(call: UnnumberedCall | undefined, tools: readonly OfferedTool[]): UnnumberedCall {
  if (call !== undefined) return call;
  throw new Error(`The agent offers no tool for this step, only ${tools.map(({ name }) => name).join(", ")}.`);
}
