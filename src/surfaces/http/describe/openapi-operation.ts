// How a route describes itself: the parts of OpenAPI that are used here, and short ways to write them next to the code.
import type { FaultCode } from "../../../model/fault.js";
import type { RejectionCode } from "../../../model/rejection.js";
import { statusByFault, statusByRejection } from "../checks/errors.js";

export type Schema = { readonly [keyword: string]: unknown };

export interface Parameter {
  readonly name: string;
  readonly in: "query" | "path" | "header";
  readonly required?: boolean;
  readonly description: string;
  readonly schema: Schema;
  readonly example?: string | number;
}

export interface Content {
  readonly [mediaType: string]: { readonly schema: Schema; readonly example?: unknown };
}

export interface OpenApiOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  /** Which scope a key needs; an empty list if no key is needed. */
  readonly security?: readonly { readonly [scheme: string]: readonly string[] }[];
  readonly responses: { readonly [status: string]: { readonly description: string; readonly content?: Content } };
}

declare module "fastify" {
  interface FastifyContextConfig {
    /** What the route says about itself in the OpenAPI document. */
    readonly operation?: OpenApiOperation;
  }
}

/** A schema of the document's `components`. */
export function schemaNamed(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` };
}

export function jsonContent(schema: Schema, example?: unknown): Content {
  return { "application/json": { schema, ...(example === undefined ? {} : { example }) } };
}

/** The errors a call can answer with, by their codes; the statuses come from the tables that really decide them. */
export function refusals(...codes: readonly (RejectionCode | FaultCode)[]): OpenApiOperation["responses"] {
  const codesByStatus = new Map<number, string[]>();
  for (const code of new Set(codes)) {
    const status = { ...statusByRejection, ...statusByFault }[code];
    codesByStatus.set(status, [...(codesByStatus.get(status) ?? []), `\`${code}\``]);
  }
  return Object.fromEntries(
    [...codesByStatus].map(([status, names]) => [
      String(status),
      { description: names.join(", "), content: jsonContent(schemaNamed("Error")) },
    ]),
  );
}

/** What every call can be refused for because of its address; a parameter that it does not take is unknown. */
export const addressRefusals = ["parameter_unknown", "request_invalid"] as const satisfies readonly RejectionCode[];

/** What every call with a body can be refused for. */
export const bodyRefusals = [
  ...addressRefusals,
  "body_missing",
  "json_invalid",
  "utf8_invalid",
  "nesting_too_deep",
  "field_missing",
  "field_invalid",
  "request_too_large",
  "too_many_values",
  "entry_too_large",
  "content_type_unsupported",
  "id_conflict",
  "disk_full",
  "overloaded",
] as const satisfies readonly (RejectionCode | FaultCode)[];
