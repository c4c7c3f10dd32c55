// The OpenAPI document: the routes' own descriptions, and the schemas of inputs and answers.
import type { FastifyInstance } from "fastify";
import { operationList } from "../../../operations/index.js";
import type { Need } from "../../../operations/operation.js";
import { statusByFault, statusByRejection } from "../checks/errors.js";
import { describedRoutes } from "../routes/store-state.js";
import { namedSchemas } from "./describe-route.js";
import { entrySchemas } from "./entry-schemas.js";
import { type OpenApiOperation, refusals, type Schema } from "./openapi-operation.js";

export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string; readonly [name: string]: unknown };
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: { readonly [path: string]: { readonly [method: string]: OpenApiOperation } };
  readonly components: {
    readonly schemas: { readonly [name: string]: Schema };
    readonly securitySchemes: { readonly [name: string]: Schema };
  };
}

/** Collects the operations of all routes that are registered after this call. */
export function gatherOperations(app: FastifyInstance): OpenApiDocument["paths"] {
  const paths: { [path: string]: { [method: string]: OpenApiOperation } } = {};
  app.addHook("onRoute", ({ method, url, config }) => {
    const operation = config?.operation;
    if (operation === undefined || method === "HEAD") return;
    const path = url.replace(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [String(method).toLowerCase()]: guarded(operation, config?.need) };
  });
  return paths;
}

/** What the request checks add to every call. */
function guarded(operation: OpenApiOperation, need: Need = "admin"): OpenApiOperation {
  if (need === "open") return { ...operation, security: [] };
  const responses = {
    ...refusals("key_missing", "key_wrong", "scope_insufficient", "origin_refused", "host_foreign", "rate_exceeded"),
    ...operation.responses,
  };
  return { ...operation, security: [{ key: need === "any" ? [] : [need] }], responses };
}

export function openApiDocument(options: {
  readonly version: string;
  readonly paths: OpenApiDocument["paths"];
}): OpenApiDocument {
  const { version, paths } = options;
  return {
    openapi: "3.1.0",
    info: {
      title: "Hansard",
      version,
      summary: "The verbatim record of what AI agents were told, what they said and what they did.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/" }],
    tags: [
      { name: "Interactions", description: "Calls to a model: a prompt, and its response once it exists." },
      { name: "Entries", description: "Everything that happens in a session, of any kind." },
      { name: "Sessions", description: "Entries that share a `session_id`, as a whole and as model input." },
      { name: "Context", description: "What was in a model's context when it answered, and what was not." },
      { name: "Search", description: "Full-text search over the record." },
      { name: "Reflection", description: "Looking back: what went wrong, what recurs, how it has changed." },
      { name: "Usage", description: "Tokens and what they cost, each call to a model counted once." },
      { name: "Memories", description: "What was learned: proposed, reviewed by a person, recalled." },
      { name: "Store", description: "The state of the log and of the server." },
    ],
    paths,
    components: {
      securitySchemes: {
        key: {
          type: "http",
          scheme: "bearer",
          description:
            "A key made with `hansard keys create --scope S`. Each call names the scope it needs: `capture`, `metrics`, " +
            "`read` (which includes metrics), `review` (which includes read) or `admin` (all). A server without keys needs none; only " +
            "its own machine can reach it.",
        },
      },
      schemas: componentSchemas(),
    },
  };
}

/** The schemas of all inputs and answers, by name; MCP's tools use them too. */
export function componentSchemas(): { readonly [name: string]: Schema } {
  return {
    ...answerSchemas(),
    ...namedSchemas([...operationList, ...describedRoutes]),
    ...entrySchemas(),
  };
}

function answerSchemas(): { readonly [name: string]: Schema } {
  return {
    Error: object({
      error: object(
        {
          code: {
            type: "string",
            enum: [...Object.keys({ ...statusByRejection, ...statusByFault }), "internal"].sort(),
            description: "Error code, for programs.",
          },
          message: { ...text, description: "Error text, for people." },
          field: { ...text, description: "The field or parameter to change." },
          index: { ...count, description: "Index of the item in a batch, from 0." },
          hint: { ...text, description: "What to do." },
          least: { ...count, description: "For a budget that is too small: the minimum." },
        },
        ["field", "index", "hint", "least"],
      ),
    }),
  };
}

const text: Schema = { type: "string" };
const count: Schema = { type: "integer", minimum: 0 };

/** All properties are required unless they are marked as optional. */
function object(properties: { readonly [name: string]: Schema }, optional: readonly string[] = []): Schema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: "object", properties, required };
}
