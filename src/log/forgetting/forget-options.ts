// What is to be forgotten and why, as it comes in from any surface: its schema, and how it is parsed or refused.
import { Type } from "typebox";
import { parseLabel, parseSessionId } from "../../model/ids.js";
import { isJsonObject } from "../../model/json.js";
import { notKnown } from "../../model/options.js";
import { Rejection, reject } from "../../model/rejection.js";
import { type GivenIn, named, text } from "../../model/schema.js";

export const newForgetting = named(
  "NewForgetting",
  Type.Object(
    {
      entry: Type.Optional(
        Type.Unsafe<string | number>({
          type: ["string", "integer"],
          description: "The id of an entry, or its position.",
        }),
      ),
      session_id: Type.Optional(text),
      project: Type.Optional(text),
      reason: Type.String({ description: "Why. It stays, and so must not repeat what is to be forgotten." }),
      dry_run: Type.Optional(Type.Boolean({ description: "Only say what would go." })),
    },
    { additionalProperties: false },
  ),
);

/** One of `entry`, `session_id` and `project`. */
export interface ForgetOptions extends GivenIn<typeof newForgetting> {
  /** Who asks, for the audit: `person` by default. */
  readonly actor?: string | undefined;
}

export type ForgetTarget =
  | { readonly scope: "entry"; readonly entry: string }
  | { readonly scope: "session"; readonly session_id: string }
  | { readonly scope: "project"; readonly project: string };

export interface ForgetRequest {
  readonly target: ForgetTarget;
  readonly reason: string;
  readonly dry_run: boolean;
  /** Who asks. */
  readonly actor: string;
}

const REASON_CHARS_MAX = 1_000;
const names = ["entry", "session_id", "project"] as const;
const known: readonly string[] = [...Object.keys(newForgetting.properties), "actor"];

export function parseForgetOptions(input: unknown): ForgetRequest | Rejection {
  if (!isJsonObject(input)) return invalid("body", "an object is needed: what to forget, and a reason");
  const unknown = Object.keys(input).find((name) => !known.includes(name));
  if (unknown !== undefined) {
    // The message of an error is not among what is spread.
    const { message, field = "body", hint = "" } = notKnown("field", unknown, known);
    return reject({ code: "field_invalid", field, message, hint });
  }
  const given = names.filter((name) => input[name] !== undefined && input[name] !== null);
  const [name] = given;
  if (name === undefined || given.length > 1) {
    return reject({
      code: name === undefined ? "field_missing" : "field_invalid",
      field: given[1] ?? "entry",
      message: "one of entry, session_id and project is needed, and only one",
    });
  }
  const target = parseTarget(name, input[name]);
  if (target instanceof Rejection) return target;
  const reason = parseReason(input.reason);
  if (reason instanceof Rejection) return reason;
  const { dry_run = false, actor = "person" } = input;
  if (typeof dry_run !== "boolean") return invalid("dry_run", "dry_run must be true or false");
  return { target, reason, dry_run, actor: actor as string };
}

function parseReason(reason: unknown): string | Rejection {
  if (reason === undefined || reason === null) {
    const hint = "Say why, without repeating what is to be forgotten: the reason stays.";
    return reject({ code: "field_missing", field: "reason", message: "reason is missing", hint });
  }
  if (typeof reason !== "string" || reason.trim() === "") return invalid("reason", "reason must be a text, not blank");
  if (reason.length > REASON_CHARS_MAX) return invalid("reason", `reason may have ${REASON_CHARS_MAX} characters`);
  return reason;
}

function parseTarget(name: (typeof names)[number], value: unknown): ForgetTarget | Rejection {
  if (name === "entry") {
    const isNamed = (typeof value === "string" && value !== "") || Number.isSafeInteger(value);
    return isNamed ? { scope: "entry", entry: String(value) } : invalid("entry", "entry must be an id or a position");
  }
  if (name === "session_id") {
    const session_id = parseSessionId(value);
    return session_id instanceof Rejection ? session_id : { scope: "session", session_id };
  }
  const project = parseLabel("project", value);
  if (project instanceof Rejection) return project;
  return project === "" ? invalid("project", "project must not be empty") : { scope: "project", project };
}

function invalid(field: string, message: string): Rejection {
  return reject({ code: "field_invalid", field, message });
}
