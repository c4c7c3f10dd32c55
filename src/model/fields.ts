// Field types: how values are validated, what an absent one reads as, and their JSON Schema.
import type { Content } from "./content.js";
import { parseEntryId, parseLabel, parseTags } from "./ids.js";
import { isJsonObject, type JsonObject, type JsonValue } from "./json.js";
import { Rejection, type RejectionCode, reject } from "./rejection.js";
import { injections, isInjection, isRole, roles } from "./roles.js";

/** Plain JSON Schema: loading a schema library would double the start time of every command. */
type JsonSchema = JsonObject;

/** `required` is part of the type, because the types of inputs follow from it. */
export interface Field<T = unknown, R extends boolean = boolean> {
  readonly required: R;
  /** What an absent value reads as; if undefined, the field is left out. */
  readonly empty: T | undefined;
  readonly schema: JsonSchema;
  /** The value as it is stored, or why it is refused. */
  readonly parse: (value: unknown, name: string) => unknown;
}

interface FieldRule {
  readonly expected: string;
  readonly schema: JsonSchema;
  readonly accepts: (value: unknown) => boolean;
  readonly code?: RejectionCode;
  readonly hint?: string;
}

function field<T>(rule: FieldRule, empty: T | undefined): Field<T, false> {
  const parse = (value: unknown, name: string): unknown => (rule.accepts(value) ? value : refuse(rule, name));
  return { required: false, empty, schema: rule.schema, parse };
}

function refuse(rule: FieldRule, name: string): Rejection {
  return reject({
    code: rule.code ?? "field_invalid",
    field: name,
    message: `${name} must be ${rule.expected}`,
    ...(rule.hint === undefined ? {} : { hint: rule.hint }),
  });
}

export function required<T>(inner: Field<T>): Field<T, true> {
  return { ...inner, required: true };
}

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;

const isText = (value: unknown): boolean => typeof value === "string";

export const text = field<string>({ expected: "a string", schema: { type: "string" }, accepts: isText }, "");

export const number = field<number>(
  { expected: "a number", schema: { type: "number" }, accepts: (value) => Number.isFinite(value) },
  undefined,
);

export const boolean = field<boolean>(
  { expected: "true or false", schema: { type: "boolean" }, accepts: (value) => typeof value === "boolean" },
  undefined,
);

export const confidence = field<number>(
  {
    expected: "a number from 0 to 1",
    code: "confidence_out_of_range",
    schema: { type: "number", minimum: 0, maximum: 1 },
    accepts: (value) => typeof value === "number" && value >= 0 && value <= 1,
  },
  undefined,
);

export const score = field<number>(
  {
    expected: "a number from -1 to 1",
    schema: { type: "number", minimum: -1, maximum: 1 },
    accepts: (value) => typeof value === "number" && value >= -1 && value <= 1,
  },
  undefined,
);

export const object = field<JsonObject>(
  { expected: "an object", schema: { type: "object" }, accepts: isJsonObject },
  {},
);

export const objects = field<readonly JsonObject[]>(
  {
    expected: "a list of objects",
    schema: { type: "array", items: { type: "object" } },
    accepts: (value) => Array.isArray(value) && value.every(isJsonObject),
  },
  [],
);

export const json = field<JsonValue>({ expected: "text or JSON", schema: {}, accepts: () => true }, "");

export const position = field<number>(
  {
    expected: "a position (a whole number from 1)",
    schema: { type: "integer", minimum: 1 },
    accepts: (value) => Number.isSafeInteger(value) && (value as number) >= 1,
  },
  undefined,
);

export const positionOrZero = field<number>(
  {
    expected: "a position (a whole number from 1), or 0",
    schema: { type: "integer", minimum: 0 },
    accepts: isCount,
  },
  undefined,
);

export const count = field<number>(
  { expected: "a whole number from 0", schema: { type: "integer", minimum: 0 }, accepts: isCount },
  undefined,
);

export const positions = field<readonly number[]>(
  {
    expected: "a list of positions",
    schema: { type: "array", items: { type: "integer", minimum: 1 } },
    accepts: (value) => Array.isArray(value) && value.every((item) => Number.isSafeInteger(item) && item >= 1),
  },
  [],
);

export const role = field<string>(
  {
    expected: `one of ${roles.join(", ")}`,
    code: "role_unknown",
    schema: { type: "string", enum: [...roles] },
    accepts: isRole,
  },
  undefined,
);

export const injected = field<string>(
  {
    expected: `one of ${injections.join(", ")}`,
    schema: { type: "string", enum: ["", ...injections] },
    accepts: isInjection,
  },
  "",
);

/** The id of one run of a program, as the client SDK generates it. */
export const runName = field<string>(
  {
    expected: "1 to 128 of the characters A-Z a-z 0-9 . _ : -",
    schema: { type: "string", pattern: "^[A-Za-z0-9._:-]{1,128}$" },
    accepts: (value) => typeof value === "string" && /^[A-Za-z0-9._:-]{1,128}$/.test(value),
  },
  undefined,
);

/**
 * Content is text or a list of parts. It is required, but may be null or absent with tool calls. The message's own rule
 * checks that, so the type allows it.
 */
export const content: Field<Content> = required(
  field<Content>(
    {
      expected: "a string or a list of content parts (objects or strings)",
      schema: { type: ["string", "array", "null"] },
      accepts: (value) =>
        value === null ||
        isText(value) ||
        (Array.isArray(value) && value.every((part) => isText(part) || isJsonObject(part))),
    },
    "",
  ),
);

/** References to memories and chunks are strings; numbers and booleans become their JSON text. */
export const references: Field<readonly string[], false> = {
  required: false,
  empty: [],
  schema: { type: "array", items: { type: ["string", "number", "boolean"] } },
  parse: (value, name) => {
    if (!Array.isArray(value)) return reject({ code: "field_invalid", field: name, message: `${name} must be a list` });
    const texts: string[] = [];
    for (const [index, item] of value.entries()) {
      if (typeof item === "string") texts.push(item);
      else if (typeof item === "boolean" || Number.isFinite(item)) texts.push(JSON.stringify(item));
      else {
        const message = `${name}[${index}] must be a string, a number or a boolean`;
        return reject({ code: "field_invalid", field: name, message });
      }
    }
    return texts;
  },
};

export const sessionReference: Field<string, false> = {
  required: false,
  empty: "",
  schema: { type: "string" },
  parse: (value, name) => {
    const parsed = parseLabel("parent", value);
    return parsed instanceof Rejection ? new Rejection({ ...parsed, field: name }) : parsed;
  },
};

/** An absent label is left out of what is stored. */
function label<T extends string | readonly string[]>(
  schema: JsonSchema,
  parse: (value: unknown, name: string) => T | Rejection,
): Field<T, false> {
  const parseGiven = (value: unknown, name: string): T | Rejection | undefined => {
    const parsed = parse(value, name);
    return parsed instanceof Rejection || parsed.length > 0 ? parsed : undefined;
  };
  return { required: false, empty: undefined, schema, parse: parseGiven };
}

export const userLabel = label<string>({ type: "string" }, (value) => parseLabel("user_id", value));

export const tagLabels = label<readonly string[]>({ type: "array", items: { type: "string" } }, parseTags);

export const entryReference = label<string>({ type: "string" }, parseEntryId);

const promptText = field<string>(
  {
    expected: "a string that is not blank",
    code: "prompt_blank",
    hint: "Give the text that was sent to the model.",
    schema: { type: "string", minLength: 1 },
    accepts: (value) => typeof value === "string" && value.trim() !== "",
  },
  undefined,
);

/** A list of messages is a common mistake here: the error says where it belongs. */
export const prompt = required<string>({
  ...promptText,
  parse: (value, name) =>
    Array.isArray(value) && value.length > 0 ? messagesAsPrompt(name) : promptText.parse(value, name),
});

function messagesAsPrompt(name: string): Rejection {
  return reject({
    code: "prompt_blank",
    field: name,
    message: `${name} must be a string, not a list of messages`,
    hint: "Give the text of the last user message as prompt, and the whole list as context_pack.messages.",
  });
}
