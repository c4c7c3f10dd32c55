// Examples as commands for a shell, made from what an operation says about itself.
import type { Operation } from "./operation.js";

export function curlCommand(call: {
  readonly origin: string;
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}): string {
  const { origin, method, operation } = call;
  const { parameters = [], requestBody } = operation;
  let path = call.path;
  const query: string[] = [];
  for (const { name, in: place, example } of parameters) {
    if (example === undefined) continue;
    const value = encodeURIComponent(example);
    if (place === "path") path = path.replace(`{${name}}`, value);
    else query.push(`${name}=${value}`);
  }
  const address = quote(`${origin}${path}${query.length === 0 ? "" : `?${query.join("&")}`}`);
  const example = requestBody?.content["application/json"]?.example;
  const isStream = operation.responses[200]?.content?.["text/event-stream"] !== undefined;
  if (isStream) return `curl -N ${address}`;
  if (example === undefined) return `curl ${method === "GET" ? "" : `-X ${method} `}${address}`;
  return `curl ${address} \\\n  -H 'content-type: application/json' \\\n  -d ${quote(layOut(example).replaceAll("\n", "\n  "))}`;
}

const WIDTH = 70;

/** JSON with a line for each field or item of the outermost value, and of inner ones that are too long for one line. */
export function layOut(value: unknown, indent = ""): string {
  const flat = JSON.stringify(value);
  if (typeof value !== "object" || value === null || (indent !== "" && flat.length <= WIDTH)) return flat;
  const inner = `${indent}  `;
  const lines = Array.isArray(value)
    ? value.map((item) => `${inner}${layOut(item, inner)}`)
    : Object.entries(value).map(([key, item]) => `${inner}${JSON.stringify(key)}: ${layOut(item, inner)}`);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  return `${open}\n${lines.join(",\n")}\n${indent}${close}`;
}

/** Quoted only where a shell would see more than a word. */
function quote(text: string): string {
  return /^[\w.:/%=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
