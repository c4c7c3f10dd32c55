// What providers accept, written from their documentation and not from our code: every way a history breaks the rules.

interface Loose {
  readonly [key: string]: unknown;
}

/** Complaints about a history in OpenAI's form; none where it is legal. */
export function openAiFaults(messages: readonly object[], options: { readonly mayPend: boolean }): readonly string[] {
  const faults: string[] = [];
  const rest = [...(messages as readonly Loose[])];
  while (rest[0]?.role === "system") faults.push(...messageFaults(rest.shift() as Loose));
  if (messages.length > 0 && rest[0]?.role !== "user") faults.push("the talk does not start with a user");
  while (rest.length > 0) {
    const message = rest.shift() as Loose;
    faults.push(...messageFaults(message));
    if (message.role === "system") faults.push("a system message within the talk");
    if (message.role === "tool") faults.push(`a result without its call: ${message.tool_call_id}`);
    if (message.tool_calls === undefined) {
      if (message.role === "assistant" && isBlank(message.content)) faults.push("a blank assistant message");
      continue;
    }
    const open = new Set((message.tool_calls as readonly Loose[]).map((call) => call.id));
    while (rest[0]?.role === "tool" && open.delete(rest[0].tool_call_id)) {
      faults.push(...messageFaults(rest.shift() as Loose));
    }
    if (open.size > 0 && !(options.mayPend && rest.length === 0)) faults.push(`open calls: ${[...open].join()}`);
  }
  return faults;
}

const OPENAI_KEYS: { readonly [role: string]: readonly string[] } = {
  system: ["role", "content", "name"],
  user: ["role", "content", "name"],
  assistant: ["role", "content", "name", "tool_calls"],
  tool: ["role", "content", "name", "tool_call_id"],
};

function messageFaults(message: Loose): readonly string[] {
  const faults: string[] = [];
  const keys = OPENAI_KEYS[String(message.role)];
  if (keys === undefined) return [`role ${message.role}`];
  for (const key of Object.keys(message)) if (!keys.includes(key)) faults.push(`${message.role} with ${key}`);
  if ("name" in message && !/^[^\s<|\\/>]{1,64}$/.test(String(message.name))) faults.push(`name ${message.name}`);
  if (message.role === "tool" && typeof message.tool_call_id !== "string") faults.push("a result without an id");
  if (Array.isArray(message.content)) {
    if (message.content.length === 0) faults.push("an empty list of parts");
    for (const part of message.content) {
      if (!isOpenAiPart(part as Loose, String(message.role))) faults.push(`part ${JSON.stringify(part)}`);
    }
  } else if (typeof message.content !== "string") faults.push("content that is no text");
  if ("tool_calls" in message) faults.push(...callFaults(message.tool_calls as readonly Loose[]));
  return faults;
}

function callFaults(calls: readonly Loose[]): readonly string[] {
  const faults: string[] = [];
  if (calls.length === 0) faults.push("an empty list of calls");
  if (new Set(calls.map((call) => call.id)).size < calls.length) faults.push("two calls with one id");
  for (const call of calls) {
    const { name, arguments: args } = call.function as Loose;
    if (Object.keys(call).sort().join() !== "function,id,type" || call.type !== "function")
      faults.push("a call's shape");
    if (typeof call.id !== "string" || call.id === "") faults.push("a call without an id");
    if (!/^[A-Za-z0-9_-]{1,64}$/.test(String(name))) faults.push(`a tool called ${name}`);
    if (typeof args !== "string") faults.push("arguments that are no text");
  }
  return faults;
}

function isOpenAiPart(part: Loose, role: string): boolean {
  const inner = (part[String(part.type)] ?? {}) as Loose;
  const keys = Object.keys(part).sort().join();
  if (part.type === "text") return typeof part.text === "string" && keys === "text,type";
  if (part.type === "refusal") return role === "assistant" && typeof part.refusal === "string";
  if (role !== "user" || keys !== ["type", String(part.type)].sort().join()) return false;
  if (part.type === "image_url") return typeof inner.url === "string";
  if (part.type === "input_audio") return typeof inner.data === "string" && typeof inner.format === "string";
  return part.type === "file" && (typeof inner.file_id === "string" || typeof inner.file_data === "string");
}

const THOUGHTS = ["thinking", "redacted_thinking"];

/** Complaints about a history in Anthropic's form. */
export function anthropicFaults(
  history: { readonly system: unknown; readonly messages: readonly object[] },
  options: { readonly mayPend: boolean },
): readonly string[] {
  const faults: string[] = typeof history.system === "string" ? [] : ["system that is no text"];
  const messages = history.messages as readonly Loose[];
  const used = new Set<unknown>();
  let open: ReadonlySet<unknown> = new Set();
  for (const [index, message] of messages.entries()) {
    if (Object.keys(message).sort().join() !== "content,role") faults.push("keys of a message");
    if (message.role !== (index % 2 === 0 ? "user" : "assistant")) faults.push(`message ${index} is ${message.role}'s`);
    const blocks = blocksOf(message);
    if (blocks.length === 0) faults.push(`message ${index} is empty`);
    if (THOUGHTS.includes(String(blocks.at(-1)?.type))) faults.push(`message ${index} ends in a thought`);
    for (const block of blocks) faults.push(...blockFaults(block, String(message.role)));
    const answered = blocks.filter((block) => block.type === "tool_result").map((block) => block.tool_use_id);
    if (blocks.slice(0, answered.length).some((block) => block.type !== "tool_result"))
      faults.push("results come late");
    if (new Set(answered).size < answered.length) faults.push("two results for one call");
    if (answered.some((id) => !open.has(id))) faults.push("a result without its call");
    const isLast = index === messages.length - 1;
    if (answered.length < open.size && !(options.mayPend && isLast)) faults.push("a call without its result");
    const uses = blocks.filter((block) => block.type === "tool_use").map((block) => block.id);
    for (const id of uses) {
      if (used.has(id)) faults.push(`id ${id} is used twice`);
      used.add(id);
    }
    open = new Set(uses);
  }
  if (open.size > 0 && !options.mayPend) faults.push("a call without its result");
  if ((JSON.stringify(messages).match(/"cache_control":/g) ?? []).length > 4) faults.push("too many breakpoints");
  const last = messages.at(-1);
  const end = last?.role === "assistant" ? blocksOf(last).at(-1)?.text : undefined;
  if (typeof end === "string" && /\s$/.test(end)) faults.push("the last text ends in white space");
  return faults;
}

function blocksOf(message: Loose): readonly Loose[] {
  const { content } = message;
  return typeof content === "string" ? [{ type: "text", text: content }] : (content as readonly Loose[]);
}

function blockFaults(block: Loose, role: string): readonly string[] {
  const faults: string[] = [];
  const allowed = role === "user" ? ["text", "image", "document", "tool_result"] : ["text", "tool_use", ...THOUGHTS];
  if (!allowed.includes(String(block.type))) faults.push(`a ${block.type} block of the ${role}`);
  if (block.type === "text") {
    if (typeof block.text !== "string" || block.text.trim() === "") faults.push("a blank text block");
    const { cache_control: _, ...text } = block;
    if (Object.keys(text).length !== 2) faults.push("keys of a text block");
  }
  if (block.type === "thinking") {
    const isSigned =
      typeof block.thinking === "string" && typeof block.signature === "string" && block.signature !== "";
    if (!isSigned || Object.keys(block).length !== 3) faults.push(`thinking ${JSON.stringify(block)}`);
  }
  if (block.type === "redacted_thinking" && typeof block.data !== "string") faults.push("redacted thinking");
  if (block.type === "image" || block.type === "document") {
    const source = block.source as Loose;
    const isInline = typeof source.data === "string" && typeof source.media_type === "string";
    if (!isInline && typeof source.url !== "string") faults.push(`source ${JSON.stringify(source)}`);
  }
  if (block.type === "tool_use") {
    if (!/^[A-Za-z0-9_-]+$/.test(String(block.id))) faults.push(`id ${block.id}`);
    if (!/^[A-Za-z0-9_-]{1,128}$/.test(String(block.name))) faults.push(`a tool called ${block.name}`);
    if (typeof block.input !== "object" || block.input === null || Array.isArray(block.input)) faults.push("input");
  }
  if (block.type === "tool_result") {
    const { content } = block;
    if (Array.isArray(content)) for (const inner of content) faults.push(...blockFaults(inner as Loose, "user"));
    else if (typeof content !== "string") faults.push("a result's content");
    if (block.is_error === true && (content as string | readonly unknown[]).length === 0) faults.push("a silent error");
  }
  return faults;
}

function isBlank(content: unknown): boolean {
  if (typeof content === "string") return content.trim() === "";
  return (content as readonly Loose[]).every((part) => String(part.text ?? part.refusal ?? "-").trim() === "");
}
