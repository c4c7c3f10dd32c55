// Whom a request believes to be talking to. A page of another site can make a browser send anything here, under a name of
// that site which was made to point at this machine, or under the right name but with its own origin; both are refused.

import { BlockList, isIP } from "node:net";
import type { FastifyRequest } from "fastify";
import { itemAt } from "../../../model/item-at.js";
import { RecorderError, type Rejection, reject } from "../../../model/rejection.js";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Whether a request is recorded: then pages of other sites may not send it. */
    readonly is_audited?: true;
  }
}

export interface HostOptions {
  /** The address or name that the server listens on. */
  readonly host: string;
  /** Further names it is reached by, behind a proxy for instance. */
  readonly allow_hosts: readonly string[];
}

/** So many different `Host` headers are remembered as good; there are rarely more than two. */
const KNOWN_MAX = 64;

/** Headers that proxies add. */
const forwardedBy = [
  "forwarded",
  "via",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-proto",
  "x-real-ip",
] as const;

/** What is looked at of a request. */
export type Asked = Pick<FastifyRequest, "raw" | "protocol"> & {
  readonly routeOptions: { readonly config: { readonly is_audited?: true } };
};

export class HostCheck {
  readonly #known = new Set<string>();
  readonly #names: ReadonlySet<string>;
  readonly #allowed: ReadonlySet<string>;

  constructor({ host, allow_hosts }: HostOptions) {
    this.#allowed = new Set(allow_hosts.map(toName));
    this.#names = new Set([...this.#allowed, toName(host)]);
  }

  /** Why the request is not for this server, or not from its own pages; undefined where it is. */
  refuse(request: Asked): Rejection | undefined {
    const { host, origin } = request.raw.headers;
    // An address with a name of its own would be a second answer to the same question.
    const isPlain = request.raw.url?.startsWith("/") === true && hostsOf(request) === 1;
    if (!isPlain || !this.#isOurs(host, request)) return hostForeign();
    if (origin !== undefined) return this.#isOurOrigin(origin, host as string, request) ? undefined : originRefused();
    return isFromElsewhere(request) && !isLed(request) ? originRefused() : undefined;
  }

  /** Whether it was sent to a name that other machines use, or came through a proxy: it may not be of this machine. */
  isFromBeyond({ raw }: Asked): boolean {
    const { host = "", origin = "" } = raw.headers;
    const [, page = ""] = /^https?:\/\/([^/]+)$/i.exec(origin) ?? [];
    const named = [host, page].flatMap((one) => nameOf(one) ?? []);
    return !named.every(isLoopback) || forwardedBy.some((name) => raw.headers[name] !== undefined);
  }

  #isOurs(host: string | undefined, request: Asked): boolean {
    if (host === undefined) return false;
    if (this.#known.has(host)) return true;
    const name = nameOf(host);
    if (name === undefined) return false;
    const isOurs = this.#names.has(name) || isLoopback(name) || name === reachedAddress(request);
    if (isOurs && this.#known.size < KNOWN_MAX) this.#known.add(host);
    return isOurs;
  }

  #isOurOrigin(origin: string, host: string, request: Asked): boolean {
    if (origin.toLowerCase() === `${request.protocol}://${host.toLowerCase()}`) return true;
    // A proxy may have changed the host and the scheme; the name it is known by was allowed for that.
    const name = /^https?:\/\/([^/]+)$/i.exec(origin)?.[1];
    return name !== undefined && this.#allowed.has(nameOf(name) ?? "");
  }
}

/** Whether a page of another site has the browser ask: `none` is the person, who typed the address or kept it. */
function isFromElsewhere({ raw }: Asked): boolean {
  const site = raw.headers["sec-fetch-site"];
  return site !== undefined && site !== "same-origin" && site !== "none";
}

/**
 * Without an origin a browser only loads: a link from elsewhere may lead here, in a window of its own. Nothing may be
 * embedded or framed there, and a link must not do what is written down.
 */
function isLed(request: Asked): boolean {
  const { "sec-fetch-mode": mode, "sec-fetch-dest": destination = "document" } = request.raw.headers;
  return mode === "navigate" && destination === "document" && request.routeOptions.config.is_audited !== true;
}

/** The name in `Host: name:port`; undefined where it is neither a name nor an address. */
function nameOf(host: string): string | undefined {
  const parts = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9_.-]+))(?::\d{1,5})?$/i.exec(host);
  const name = parts?.[1] ?? parts?.[2];
  return name === undefined ? undefined : toName(name);
}

function toName(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/\.$/, "");
}

/** The address of this machine that the connection came in on: a request that names it was not misled by DNS. */
function reachedAddress({ raw }: Asked): string | undefined {
  return raw.socket.localAddress?.toLowerCase().replace(/^::ffff:(?=\d+\.)/, "");
}

/** Node keeps the first of several; a proxy may have looked at another one. */
function hostsOf({ raw }: Asked): number {
  const { rawHeaders } = raw;
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = itemAt(rawHeaders, at);
    if (name.length === 4 && name.toLowerCase() === "host") count += 1;
  }
  return count;
}

function hostForeign(): Rejection {
  return reject({
    code: "host_foreign",
    field: "host",
    message: "this host name is not allowed",
    hint: "Use its address, or start it with --allow-host NAME.",
  });
}

function originRefused(): Rejection {
  return reject({
    code: "origin_refused",
    field: "origin",
    message: "cross-origin request refused",
    hint: "Send it from a program, or allow the page's host with --allow-host NAME.",
  });
}

// Which addresses only this machine can reach, and why another one is not served.
const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8);
loopback.addAddress("::1", "ipv6");

/** Whether a name or an address, without brackets and port, is this machine's own. */
export function isLoopback(host: string): boolean {
  if (host === "localhost") return true;
  const family = isIP(host);
  return family !== 0 && loopback.check(host, family === 6 ? "ipv6" : "ipv4");
}

/** The first of the names that other machines may use; undefined where there is none. */
export function nameBeyondLoopback({ host, allow_hosts }: HostOptions): string | undefined {
  return [host, ...allow_hosts].find((name) => !isLoopback(toName(name)));
}

/** Others could reach a store that has no keys. */
export function beyondLoopback(host: string): RecorderError {
  return new RecorderError({
    code: "host_refused",
    field: "host",
    message: `${host} can be reached from other machines, and no keys exist`,
    hint: "Make one with `hansard keys create --scope admin`, or serve this machine only: on 127.0.0.1, without --allow-host.",
  });
}

/** The same for a single request. */
export function keyNeededBeyond(): Rejection {
  return reject({
    code: "key_missing",
    message: "a key is required: the request was not sent to this machine's own address, or it came through a proxy",
    hint: "No keys exist yet. `hansard keys create --scope admin` makes one on the machine of the store.",
  });
}
