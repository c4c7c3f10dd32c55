// Checks the Host and Origin of a request. A page of another site can make a browser send anything here, under a name
// of that site that points at this machine (DNS rebinding), or under the right name but with its own origin; both are
// refused.

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
  /** Further names of the server, for example behind a proxy. */
  readonly allow_hosts: readonly string[];
}

/** This many different `Host` headers are cached as valid; there are rarely more than two. */
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

/** The checked parts of a request. */
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

  /** Why the request is not for this server, or not from its own pages; undefined if it is. */
  refuse(request: Asked): Rejection | undefined {
    const { host, origin } = request.raw.headers;
    // An absolute URL would contradict the Host header.
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
    // A proxy may have changed the host and the scheme; the origin's name was allowed for that.
    const name = /^https?:\/\/([^/]+)$/i.exec(origin)?.[1];
    return name !== undefined && this.#allowed.has(nameOf(name) ?? "");
  }
}

/**
 * Whether a page of another site made the browser send this: `none` is a person who typed or bookmarked the address.
 */
function isFromElsewhere({ raw }: Asked): boolean {
  const site = raw.headers["sec-fetch-site"];
  return site !== undefined && site !== "same-origin" && site !== "none";
}

/**
 * Without an origin a browser only loads. A link from another site may open a page here in its own window, but nothing
 * may be embedded or framed, and a link must not trigger what is audited.
 */
function isLed(request: Asked): boolean {
  const { "sec-fetch-mode": mode, "sec-fetch-dest": destination = "document" } = request.raw.headers;
  return mode === "navigate" && destination === "document" && request.routeOptions.config.is_audited !== true;
}

/** The name in `Host: name:port`; undefined if it is neither a name nor an address. */
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

/** The address of this machine at the other end of the connection: a request that names it was not misled by DNS. */
function reachedAddress({ raw }: Asked): string | undefined {
  return raw.socket.localAddress?.toLowerCase().replace(/^::ffff:(?=\d+\.)/, "");
}

/** Node keeps the first of several; a proxy may have checked another one. */
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

/** Others could reach a store without keys. */
export function beyondLoopback(host: string): RecorderError {
  return new RecorderError({
    code: "host_refused",
    field: "host",
    message: `${host} can be reached from other machines, and no keys exist`,
    hint: "Create one with `hansard keys create --scope admin`, or serve this machine only: on 127.0.0.1, without --allow-host.",
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
