// Request checks: host, origin, key and scope of every request. Each route says which scope it needs, and one that does not
// cannot be registered: nothing is ever open by mistake.
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Caller } from "../../../guard/keys.js";
import { allows, type Scope } from "../../../guard/scopes.js";
import { Fault } from "../../../model/fault.js";
import { RecorderError, Rejection } from "../../../model/rejection.js";
import type { Need } from "../../../operations/operation.js";
import type { Recorder } from "../../../recorder/recorder.js";
import { answerHeaders } from "./errors.js";
import { type HostCheck, keyNeededBeyond } from "./hosts.js";
import type { RateLimit } from "./rate-limit.js";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The scope that this route needs; HEAD needs what GET needs. */
    readonly need?: Need;
    /** Whether the key may be the password of Basic authentication. */
    readonly takesBasic?: boolean;
  }
  interface FastifyRequest {
    /** The caller; null if no key was checked. */
    caller: Caller | null;
  }
}

export interface RequestChecks {
  readonly keys: Recorder["keys"];
  readonly hosts: HostCheck;
  readonly rate: RateLimit;
}

/** Guards all routes that are registered after this call. */
export function checkRequests(app: FastifyInstance, { keys, hosts, rate }: RequestChecks): void {
  app.decorateRequest("caller", null);
  app.addHook("onRoute", (route) => {
    if (route.config?.need !== undefined) return;
    throw new Error(`${[route.method].flat().join(", ")} ${route.url} has no scope; give it one as \`config.need\``);
  });

  app.addHook("onRequest", async (request, reply) => {
    reply.headers(answerHeaders);
    const refused = hosts.refuse(request);
    if (refused !== undefined) throw new RecorderError(refused);
    // Unknown addresses show no data.
    const need = request.is404 ? "open" : (request.routeOptions.config.need ?? "admin");
    const caller = need === "open" ? undefined : await admit(keys, hosts, request);
    const isKnown = caller !== undefined && !(caller instanceof Rejection) && caller.actor.startsWith("key:");
    refuseHurry(rate.take(isKnown ? caller.actor : request.ip, performance.now()), reply);
    if (caller === undefined) return;
    request.caller = admitted(caller, reply);
    if (need !== "open" && need !== "any" && !allows(request.caller.scope, need)) {
      throw scopeInsufficient(need, request.caller.scope, reply);
    }
  });
}

/** The caller is unknown yet, so a failure to look up keys is reported without the store's location. */
async function admit(keys: Recorder["keys"], hosts: HostCheck, request: FastifyRequest): Promise<Caller | Rejection> {
  try {
    const caller = await keys.authenticate(authorizationOf(request));
    const isKeyless = !(caller instanceof Rejection) && caller.key_id === "";
    return isKeyless && hosts.isFromBeyond(request) ? keyNeededBeyond() : caller;
  } catch (cause) {
    if (!(cause instanceof Fault)) throw cause;
    const hint = "Retry in a moment; the server's log has details.";
    throw new Fault(cause.code, "keys cannot be checked at present", { hint, cause });
  }
}

/**
 * A key may also come as `x-api-key`; on routes that say so, as the password of Basic, which some SDKs cannot be told to
 * replace.
 */
function authorizationOf(request: FastifyRequest): string | undefined {
  const { authorization, "x-api-key": key } = request.headers;
  if (authorization === undefined) return typeof key === "string" && key !== "" ? `Bearer ${key}` : undefined;
  if (request.routeOptions.config.takesBasic !== true) return authorization;
  const encoded = /^basic +([A-Za-z0-9+/=]{1,400}) *$/i.exec(authorization)?.[1];
  if (encoded === undefined) return authorization;
  const text = Buffer.from(encoded, "base64").toString("latin1");
  return `Bearer ${text.slice(text.indexOf(":") + 1)}`;
}

/** The caller of a route that needs a key. */
export function callerOf(request: FastifyRequest): Caller {
  if (request.caller === null) throw new Error("only routes that need a key have a caller");
  return request.caller;
}

/** For routes that need more for some requests: refuses callers without any of these scopes, and names the first. */
export function requireScope(request: FastifyRequest, reply: FastifyReply, needed: readonly Scope[]): void {
  const { scope } = callerOf(request);
  const [need] = needed;
  if (need === undefined || needed.some((one) => allows(scope, one))) return;
  throw scopeInsufficient(need, scope, reply);
}

/** The caller's recorder: the entries it adds carry the id of the caller's key. */
export function recordingOf(request: FastifyRequest, recorder: Recorder): Recorder {
  const { key_id, scope } = callerOf(request);
  return recorder.recordedBy(key_id, scope);
}

/** Whether the caller may still read: a key may be revoked during a long answer. */
export async function isStillAdmitted(request: FastifyRequest, keys: Recorder["keys"]): Promise<boolean> {
  const caller = await keys.authenticate(authorizationOf(request));
  const { need } = request.routeOptions.config;
  if (caller instanceof Rejection) return false;
  return need === "open" || need === "any" || (need !== undefined && allows(caller.scope, need));
}

function admitted(caller: Caller | Rejection, reply: FastifyReply): Caller {
  if (!(caller instanceof Rejection)) return caller;
  const reason = caller.code === "key_wrong" ? ', error="invalid_token"' : "";
  reply.header("www-authenticate", `Bearer realm="hansard"${reason}`);
  throw new RecorderError(caller);
}

function scopeInsufficient(needed: Scope, granted: Scope, reply: FastifyReply): RecorderError {
  reply.header("www-authenticate", `Bearer realm="hansard", error="insufficient_scope", scope="${needed}"`);
  return new RecorderError({
    code: "scope_insufficient",
    message: `this needs a key with scope ${needed}, and the one sent has ${granted}`,
    hint: `\`hansard keys create --scope ${needed}\` creates one.`,
  });
}

function refuseHurry(waitMs: number, reply: FastifyReply): void {
  if (waitMs === 0) return;
  reply.header("retry-after", String(Math.ceil(waitMs / 1000)));
  throw new RecorderError({
    code: "rate_exceeded",
    message: "too many requests",
    hint: "Send several entries with one request, or start the server with a higher --rate.",
  });
}
