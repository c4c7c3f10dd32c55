// The API documentation: as an OpenAPI document for programs, and as a page for people.
import type { FastifyInstance, FastifyRequest } from "fastify";
import { type OpenApiDocument, openApiDocument } from "../describe/openapi.js";
import type { OpenApiOperation, Parameter, Schema } from "../describe/openapi-operation.js";
import { sendHtml } from "./page.js";

export function documentRoutes(
  app: FastifyInstance,
  options: { readonly version: string; readonly paths: OpenApiDocument["paths"] },
): void {
  let made: OpenApiDocument | undefined;
  // All routes must be registered before it is built.
  const document = (): OpenApiDocument => {
    made ??= openApiDocument(options);
    return made;
  };
  app.get("/openapi.json", { config: { need: "open" } }, () => document());
  app.get("/docs", { config: { need: "open" } }, (request, reply) =>
    sendHtml(reply, renderDocs(document(), originOf(request))),
  );
}

/** The address in the examples: this server, by the name in the request. */
function originOf({ protocol, host }: FastifyRequest): string {
  return /^[\w.:[\]-]{1,100}$/.test(host) ? `${protocol}://${host}` : "http://127.0.0.1:4747";
}

// The documentation as a page for people, made from the OpenAPI document: plain HTML that works without a script.

interface DocumentedCall {
  readonly method: string;
  readonly path: string;
  readonly operation: OpenApiOperation;
}

function renderDocs(document: OpenApiDocument, origin: string): string {
  const calls = callsOf(document);
  const groups = document.tags.map((tag) => ({
    ...tag,
    calls: calls.filter(({ operation }) => operation.tags.includes(tag.name)),
  }));
  const contents = groups.map(
    ({ name, calls: ofGroup }) =>
      `<li><a class="group" href="#${anchor(name)}">${escapeHtml(name)}</a><ul>${ofGroup
        .map(
          ({ method, path, operation }) =>
            `<li><a class="call" href="#${operation.operationId}">${title(method, path)}</a></li>`,
        )
        .join("")}</ul></li>`,
  );
  const sections = groups.map(
    ({ name, description, calls: ofGroup }) => `<section><h2 id="${anchor(name)}">${escapeHtml(name)}</h2>
<p>${inline(description)}</p>${ofGroup.map((call) => renderCall(call, document, origin)).join("")}</section>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Hansard: documentation</title>
<link rel="icon" href="/ui/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/ui/tokens.css">
<link rel="stylesheet" href="/ui/docs.css">
</head>
<body>
<header class="top">
<a class="brand" href="/"><img src="/ui/icon.svg" alt="" width="28" height="28">Hansard</a>
<p class="quiet">HTTP interface, version ${escapeHtml(document.info.version)}</p>
<nav><a href="/">The record</a><a href="/openapi.json">openapi.json</a></nav>
</header>
<div class="docs">
<nav class="contents" aria-label="Contents"><ul>${contents.join("")}
<li><a class="group" href="#keys">Keys</a></li><li><a class="group" href="#kinds">Kinds of entry</a></li><li><a class="group" href="#errors">Errors</a></li></ul></nav>
<main>
<h1>Hansard HTTP API</h1>
<p>Bodies are JSON in UTF-8, times are UTC with milliseconds, ids in paths are percent-encoded. When a call
answers that an entry is recorded, it is on disk. The examples run as they are; if the server has keys, add
<a href="#keys">yours</a>.</p>
${sections.join("\n")}
${renderKeys(document)}
${renderKinds(document)}
${renderErrors(document)}
</main>
</div>
</body>
</html>
`;
}

function callsOf(document: OpenApiDocument): readonly DocumentedCall[] {
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
}

function renderCall({ method, path, operation }: DocumentedCall, document: OpenApiDocument, origin: string): string {
  const { operationId, summary, description = "", parameters = [], requestBody, responses } = operation;
  const json = requestBody?.content["application/json"];
  const body = json === undefined ? undefined : resolve(document, json.schema);
  return `<article id="${operationId}">
<h3><a class="self" href="#${operationId}">${title(method, path)}</a></h3>
<p class="summary">${inline(summary)}.</p>
<p>${inline(description)}</p>
<p class="quiet">${needText(operation)}</p>
${parameters.length === 0 ? "" : `<h4>Parameters</h4>${table(parameters.map(parameterRow))}`}
${body?.properties === undefined ? "" : `<h4>Body</h4>${fieldTable(body)}`}
${body?.oneOf === undefined ? "" : '<h4>Body</h4><p>One or more <a href="#kinds">entries</a>.</p>'}
<h4>Example</h4>
<pre class="run"><code>${escapeHtml(curlCommand({ origin, method, path, operation }))}</code></pre>
<h4>Answers</h4>
<dl class="answers">${Object.entries(responses)
    .filter(([status]) => !everywhere.has(status))
    .sort(([left], [right]) => Number(left) - Number(right))
    .map(([status, answer]) => renderAnswer(status, answer))
    .join("")}</dl>
</article>`;
}

/** What the request checks answer is the same for all calls, and described once. */
const everywhere: ReadonlySet<string> = new Set(["401", "403", "421", "429"]);

function needText({ security = [] }: OpenApiOperation): string {
  const [need] = security;
  if (need === undefined) return "No key needed.";
  const [scope] = need.key ?? [];
  return scope === undefined ? "Needs a key." : `Needs a key with scope <code>${escapeHtml(scope)}</code>.`;
}

function renderKeys(document: OpenApiDocument): string {
  const { description } = document.components.securitySchemes.key as { readonly description: string };
  return `<section><h2 id="keys">Keys</h2>
<p>${inline(description)}</p>
<pre><code>curl -H "Authorization: Bearer $HANSARD_KEY" …</code></pre>
<dl class="answers">
<dt data-class="4">401</dt><dd>${inline("`key_missing`, `key_wrong`: no key was sent, or it is not valid.")}</dd>
<dt data-class="4">403</dt><dd>${inline("`scope_insufficient`: the key may not do this. `origin_refused`: cross-origin request.")}</dd>
<dt data-class="4">421</dt><dd>${inline("`host_foreign`: the name in `Host` is not allowed.")}</dd>
<dt data-class="4">429</dt><dd>${inline("`rate_exceeded`: too many requests; `Retry-After` says when to retry.")}</dd>
</dl></section>`;
}

function renderAnswer(status: string, answer: OpenApiOperation["responses"][string]): string {
  const example = answer.content?.["application/json"]?.example;
  const shown = example === undefined ? "" : `<pre><code>${escapeHtml(layOut(example))}</code></pre>`;
  return `<dt data-class="${status.charAt(0)}">${status}</dt><dd>${inline(answer.description)}${shown}</dd>`;
}

function renderKinds(document: OpenApiDocument): string {
  const newEntry = resolve(document, { $ref: "#/components/schemas/NewEntry" });
  const { mapping } = newEntry.discriminator as { readonly mapping: { readonly [kind: string]: string } };
  const kinds = Object.entries(mapping).map(
    ([kind, $ref]) => `<article id="kind-${kind}"><h3><span class="kind" data-kind="${kind}">${kind}</span></h3>
${fieldTable(resolve(document, { $ref }), ["kind", ...ENVELOPE])}</article>`,
  );
  const envelope = resolve(document, { $ref: "#/components/schemas/NewInteraction" });
  return `<section><h2 id="kinds">Kinds of entry</h2>
<p>Every entry has a <code>kind</code> and its fields, and may have these.
Required fields are bold; <code>null</code> in any other field means absent.</p>
${fieldTable({ properties: pick(envelope.properties as Properties, ENVELOPE) })}
${kinds.join("\n")}</section>`;
}

function renderErrors(document: OpenApiDocument): string {
  const error = resolve(document, { $ref: "#/components/schemas/Error" }).properties as { readonly error: Schema };
  const example = {
    error: { code: "prompt_blank", message: "prompt must be a string that is not blank", field: "prompt" },
  };
  return `<section><h2 id="errors">Errors</h2>
<p>Every error has the same shape. After a 503, retry after the number of seconds in <code>Retry-After</code>.</p>
<pre><code>${escapeHtml(layOut(example))}</code></pre>
${fieldTable(error.error, [], false)}</section>`;
}

type Properties = { readonly [name: string]: Schema };

const ENVELOPE = ["id", "created_at", "session_id", "project", "client", "user_id", "tags", "parent_id", "extra"];

function pick(properties: Properties, names: readonly string[]): Properties {
  return Object.fromEntries(
    names.flatMap((name) => (properties[name] === undefined ? [] : [[name, properties[name]]])),
  );
}

function resolve(document: OpenApiDocument, schema: Schema): Schema {
  const name = typeof schema.$ref === "string" ? schema.$ref.slice(schema.$ref.lastIndexOf("/") + 1) : undefined;
  return name === undefined ? schema : (document.components.schemas[name] ?? {});
}

function fieldTable(schema: Schema, without: readonly string[] = ["kind"], hasTypes = true): string {
  const required = (schema.required ?? []) as readonly string[];
  const properties = Object.entries(schema.properties as Properties).filter(
    ([name]) => !without.includes(name) || (required.includes(name) && name !== "kind"),
  );
  if (properties.length === 0) return "<p>No fields of its own.</p>";
  return table(
    properties.map(([name, field]) => [
      required.includes(name) ? `<strong>${escapeHtml(name)}</strong>` : escapeHtml(name),
      hasTypes ? escapeHtml(typeOf(field)) : "",
      inline(String(field.description ?? "")),
    ]),
  );
}

function parameterRow({ name, in: place, description, schema }: Parameter): readonly [string, string, string] {
  const shown = place === "path" ? `<strong>${escapeHtml(name)}</strong>` : escapeHtml(name);
  return [shown, escapeHtml(typeOf(schema)), inline(description)];
}

function table(rows: readonly (readonly [string, string, string])[]): string {
  const body = rows.map(
    ([name, type, text]) =>
      `<tr><th scope="row"><code>${name}</code></th><td class="type">${type}</td><td>${text}</td></tr>`,
  );
  return `<table>${body.join("")}</table>`;
}

function typeOf(schema: Schema): string {
  if (Array.isArray(schema.enum)) return schema.enum.join(", ");
  if (Array.isArray(schema.anyOf)) return [...new Set((schema.anyOf as Schema[]).map(typeOf))].join(", ");
  const types = [schema.type].flat().filter((type) => type !== undefined && type !== "null");
  if (types.length === 0) return schema.type === "null" ? "null" : "any JSON";
  if (types.includes("array")) return `list of ${typeOf((schema.items ?? {}) as Schema)}`;
  return types.join(" or ");
}

function title(method: string, path: string): string {
  return `<span class="method" data-method="${method}">${method}</span> <code>${escapeHtml(path)}</code>`;
}

function anchor(name: string): string {
  return name.toLowerCase().replace(/\W+/g, "-");
}

/** Text with `code` in it. */
function inline(text: string): string {
  return escapeHtml(text).replace(/`([^`]+)`/g, "<code>$1</code>");
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

// Examples as shell commands, made from the operation's description.

function curlCommand(call: {
  readonly origin: string;
  readonly method: string;
  readonly path: string;
  readonly operation: OpenApiOperation;
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

/**
 * JSON with a line for each field or item of the outermost value, and of inner values that are too long for one line.
 */
function layOut(value: unknown, indent = ""): string {
  const flat = JSON.stringify(value);
  if (typeof value !== "object" || value === null || (indent !== "" && flat.length <= WIDTH)) return flat;
  const inner = `${indent}  `;
  const lines = Array.isArray(value)
    ? value.map((item) => `${inner}${layOut(item, inner)}`)
    : Object.entries(value).map(([key, item]) => `${inner}${JSON.stringify(key)}: ${layOut(item, inner)}`);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  return `${open}\n${lines.join(",\n")}\n${indent}${close}`;
}

/** Quoted only if a shell would not take it as a word. */
function quote(text: string): string {
  return /^[\w.:/%=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
