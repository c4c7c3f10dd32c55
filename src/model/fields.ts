// Field types: how a value of each is checked at the door, what an absent one reads as, and its JSON schema.
import Type, { type TSchema } from "typebox";
import { parseLabel } from "./ids.js";
import { isJsonObject, type JsonObject, type JsonValue } from "./json.js";
import { Rejection, type RejectionCode, reject } from "./rejection.js";

export interface Field<T = unknown> {
  readonly required: boolean;
  /** What an absent value reads back as; undefined leaves it out. */
  readonly empty: T | undefined;
  readonly schema: TSchema;
  /** The value as it is stored, or why not. */
  readonly parse: (value: unknown, name: string) => unknown;
}

interface FieldRule {
  readonly expected: string;
  readonly schema: TSchema;
  readonly accepts: (value: unknown) => boolean;
  readonly code?: RejectionCode;
  readonly hint?: string;
}

function field<T>(rule: FieldRule, empty: T | undefined): Field<T> {
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

export function required<T>(inner: Field<T>): Field<T> {
  return { ...inner, required: true };
}

const isText = (value: unknown): boolean => typeof value === "string";

export const text = field<string>({ expected: "a string", schema: Type.String(), accepts: isText }, "");

export const number = field<number>(
  { expected: "a number", schema: Type.Number(), accepts: (value) => Number.isFinite(value) },
  undefined,
);

export const boolean = field<boolean>(
  { expected: "true or false", schema: Type.Boolean(), accepts: (value) => typeof value === "boolean" },
  undefined,
);

export const confidence = field<number>(
  {
    expected: "a number from 0 to 1",
    code: "confidence_out_of_range",
    schema: Type.Number({ minimum: 0, maximum: 1 }),
    accepts: (value) => typeof value === "number" && value >= 0 && value <= 1,
  },
  undefined,
);

export const object = field<JsonObject>(
  { expected: "an object", schema: Type.Object({}, { additionalProperties: true }), accepts: isJsonObject },
  {},
);

export const objects = field<readonly JsonObject[]>(
  {
    expected: "a list of objects",
    schema: Type.Array(Type.Object({}, { additionalProperties: true })),
    accepts: (value) => Array.isArray(value) && value.every(isJsonObject),
  },
  [],
);

export const json = field<JsonValue>({ expected: "text or JSON", schema: Type.Unknown(), accepts: () => true }, "");

export const position = field<number>(
  {
    expected: "a position (a whole number from 1)",
    schema: Type.Integer({ minimum: 1 }),
    accepts: (value) => Number.isSafeInteger(value) && (value as number) >= 1,
  },
  undefined,
);

const roles = ["user", "assistant", "system", "tool", "developer", "timmy"] as const;

export const role = field<string>(
  {
    expected: "one of user, assistant, system, tool",
    code: "role_unknown",
    schema: Type.Enum([...roles]),
    accepts: (value) => (roles as readonly unknown[]).includes(value),
  },
  undefined,
);

/** Content is text or a list of parts; null is allowed only beside tool calls, which the message's own rule checks. */
export const content = field<string | readonly JsonValue[]>(
  {
    expected: "a string or a list of content parts (objects or strings)",
    schema: Type.Union([Type.String(), Type.Array(Type.Unknown()), Type.Null()]),
    accepts: (value) =>
      value === null ||
      isText(value) ||
      (Array.isArray(value) && value.every((part) => isText(part) || isJsonObject(part))),
  },
  "",
);

/** References to memories and chunks are strings; numbers and booleans become their JSON text. */
export const references: Field<readonly string[]> = {
  required: false,
  empty: [],
  schema: Type.Array(Type.Union([Type.String(), Type.Number(), Type.Boolean()])),
  parse: (value, name) => {
    if (!Array.isArray(value)) return reject({ code: "field_invalid", field: name, message: `${name} must be a list` });
    if (value.every(isText)) return value;
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

export const sessionReference: Field<string> = {
  required: false,
  empty: "",
  schema: Type.String(),
  parse: (value, name) => {
    const parsed = parseLabel("parent", value);
    return parsed instanceof Rejection ? new Rejection({ ...parsed, field: name }) : parsed;
  },
};

export const prompt = required(
  field<string>(
    {
      expected: "a string that is not blank",
      code: "prompt_blank",
      hint: "Give the text that was sent to the model.",
      schema: Type.String({ minLength: 1 }),
      accepts: (value) => typeof value === "string" && value.trim() !== "",
    },
    undefined,
  ),
);
