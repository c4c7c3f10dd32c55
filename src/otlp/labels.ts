// Which session, user and program a span or log record belongs to, in the words of every dialect.
import { parseLabel } from "../model/ids.js";
import type { JsonValue } from "../model/json.js";
import { limits } from "../model/limits.js";
import { Rejection } from "../model/rejection.js";
import { shortHash } from "../model/telemetry.js";
import { type Attributes, textAt, valueAt } from "./attributes.js";

export interface Labels {
  readonly session_id?: string;
  readonly user_id?: string;
  readonly project?: string;
  readonly client?: string;
  readonly tags?: readonly string[];
}

/** The most specific first. */
const sessionNames = [
  ...["gen_ai.conversation.id", "session.id", "langfuse.session.id", "conversation.id"],
  ...["ai.telemetry.metadata.sessionId", "ai.settings.context.sessionId"],
  ...["traceloop.association.properties.session_id", "claude.code.session_id", "claude.cowork.session_id"],
] as const;

const userNames = [
  ...["user.id", "enduser.id", "langfuse.user.id", "gen_ai.user.id"],
  ...["ai.telemetry.metadata.userId", "ai.settings.context.userId", "traceloop.association.properties.user_id"],
] as const;

const TAGS_MAX = 20;
const TAG_BYTES_MAX = 64;

/** Of a span or record, from its own attributes and those of its resource. */
export function labelsOf(attributes: Attributes, resource: Attributes): Labels {
  const session = textAt(attributes, ...sessionNames) ?? textAt(resource, "session.id");
  const service = textAt(resource, "service.name");
  const tags = tagsOf(valueAt(attributes, "langfuse.trace.tags", "tag.tags", "langsmith.span.tags"));
  return {
    ...named("session_id", session && sessionIdOf(session)),
    ...named("user_id", label(textAt(attributes, ...userNames))),
    ...named("project", label(textAt(resource, "openinference.project.name"))),
    // What an SDK writes where nobody named the program.
    ...named("client", service?.startsWith("unknown_service") ? undefined : label(service)),
    ...(tags.length === 0 ? {} : { tags }),
  };
}

/** The name itself where it may be one of a session, otherwise a hash of it. */
function sessionIdOf(name: string): string {
  return parseLabel("session_id", name) instanceof Rejection ? `otlp:${shortHash(name)}` : name;
}

/** Undefined for a name that no label may have. */
function label(name: string | undefined): string | undefined {
  return name === undefined || parseLabel("project", name) instanceof Rejection ? undefined : name;
}

function tagsOf(value: JsonValue | undefined): readonly string[] {
  const list = typeof value === "string" ? value.split(",") : value;
  if (!Array.isArray(list)) return [];
  const tags = list.filter((tag): tag is string => {
    if (typeof tag !== "string" || tag === "" || Buffer.byteLength(tag) > TAG_BYTES_MAX) return false;
    return tag.length <= limits.label_bytes && !(parseLabel("project", tag) instanceof Rejection);
  });
  return [...new Set(tags)].slice(0, TAGS_MAX);
}

function named<N extends string>(name: N, value: string | undefined): { readonly [key in N]?: string } {
  return value === undefined || value === "" ? {} : ({ [name]: value } as { readonly [key in N]: string });
}
