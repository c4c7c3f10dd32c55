// Query strings, read strictly: a misspelt filter must not silently list everything.
import type { FastifyRequest } from "fastify";
import { notKnown } from "../../../model/options.js";
import { RecorderError } from "../../../model/rejection.js";

export type Query<N extends string> = { readonly [name in N]?: string };

/** The parameters of a request. One that is not in `names`, or is given twice, is refused. */
export function readQuery<N extends string>(request: FastifyRequest, names: readonly N[]): Query<N> {
  const address = request.raw.url ?? "";
  const start = address.indexOf("?");
  const query: { [name in N]?: string } = {};
  if (start === -1) return query;
  for (const pair of address.slice(start + 1).split("&")) {
    if (pair === "") continue;
    const equals = pair.indexOf("=");
    const name = decode(equals === -1 ? pair : pair.slice(0, equals)) as N;
    if (!names.includes(name)) throw notKnown("parameter", name, names);
    if (query[name] !== undefined) throw parameterRepeated(name);
    query[name] = equals === -1 ? "" : decode(pair.slice(equals + 1), name);
  }
  return query;
}

/** For routes that take no parameters. */
export function refuseQuery(request: FastifyRequest): void {
  readQuery(request, []);
}

function decode(text: string, field?: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    throw new RecorderError({
      code: "request_invalid",
      ...(field === undefined ? {} : { field }),
      message: "the query is not valid percent-encoded UTF-8",
    });
  }
}

function parameterRepeated(name: string): RecorderError {
  return new RecorderError({
    code: "parameter_repeated",
    field: name,
    message: `parameter ${name} is given more than once`,
    hint: "Give it once.",
  });
}
