// Operations on a server: what was given is parsed here, and refused in the same words; the route has the answer.

import type { Mask } from "../../model/mask.js";
import { orThrow, RecorderError } from "../../model/rejection.js";
import { type AnyOperation, parseOptions } from "../../operations/operation.js";
import { isGiven } from "../../search/parameters.js";
import type { Operate, Options } from "../operation-methods.js";
import type { Query, ServerConnection } from "./server-connection.js";

export function operateRemotely(parts: {
  readonly server: ServerConnection;
  readonly mask: Mask;
  readonly nowMs: () => number;
}): Operate {
  const { server, mask, nowMs } = parts;
  return async (operation, options) => {
    orThrow(parseOptions(operation, options, nowMs()));
    const { path, query } = requestOf(operation, options);
    try {
      const members = membersOf(operation.output);
      if (operation.body !== undefined) {
        return await server.post<object>(path, sentIn(operation, options), members);
      }
      const answer = await server.get<object>(path, members, query);
      // What is known as a secret here need not be one to the server.
      return query.masked === undefined ? answer : mask.value(answer);
    } catch (error) {
      if (error instanceof RecorderError && error.code === `${operation.missing}_not_found`) return undefined;
      throw error;
    }
  };
}

interface ObjectSchema {
  readonly required?: readonly string[];
  readonly anyOf?: readonly ObjectSchema[];
  readonly oneOf?: readonly ObjectSchema[];
}

/** What an answer must have: the schema's required members, or the first one of an alternative. */
function membersOf({ required = [], anyOf, oneOf }: ObjectSchema): readonly never[] {
  // An alternative that is only named is an entry, and every entry has a kind.
  const first = (anyOf ?? oneOf)?.map((schema) => schema.required?.[0] ?? "kind");
  return (first === undefined ? required : [first]) as readonly never[];
}

/** Where the route takes each option: in its path, or in the query. */
function requestOf({ route }: AnyOperation, options: Options): { readonly path: string; readonly query: Query } {
  const inPath = new Set<string>();
  const path = route.slice(route.indexOf("/")).replace(/:(\w+)/g, (_, name: string) => {
    inPath.add(name);
    return encodeURIComponent(String(options[name]));
  });
  const query = Object.entries(options).filter(
    ([name, value]) => !inPath.has(name) && name !== "body" && isGiven(value) && value !== false,
  );
  return { path, query: Object.fromEntries(query.map(([name, value]) => [name, textOf(value)])) };
}

/** The document that is sent. Whose doing it is, a server knows by the key, where it must not be told. */
function sentIn({ body }: AnyOperation, { body: given }: Options): unknown {
  if (body?.actor !== "sender") return given ?? {};
  const { actor: _, ...sent } = given as { readonly actor?: unknown };
  return sent;
}

function textOf(value: unknown): string {
  if (value === true) return "1";
  return Array.isArray(value) ? value.join(",") : String(value);
}
