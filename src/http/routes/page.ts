// The page at / and under /ui/: fixed files that hold no recorded text; their script asks the same routes as everybody else.
import { readdirSync, readFileSync } from "node:fs";
import { extname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { routeNotFound } from "../door/not-found.js";
import { pageHeaders } from "../door/security-headers.js";

/** The files lie beside the sources and are shipped from there: they are served as they are, not compiled. */
const FOLDER = fileURLToPath(new URL("../../../../src/http/page/", import.meta.url));

/** What the page shares with the rest of the program, compiled: how a content is read is written once. */
const SHARED = ["content-pieces.js", "content.js", "json.js"];
const MODEL = new URL("../../model/", import.meta.url);

const HTML = "text/html; charset=utf-8";

/** What a file of the page may be. Other endings are parts of names, as in a session called `v1.2`. */
const typeByEnding: { readonly [ending: string]: string } = {
  ".css": "text/css; charset=utf-8",
  ".html": HTML,
  ".ico": "image/x-icon",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".map": "application/json; charset=utf-8",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
  ".webmanifest": "application/manifest+json",
  ".woff2": "font/woff2",
};

export function pageRoutes(app: FastifyInstance): void {
  const files = readFiles();
  const index = files.get("index.html")?.toString();
  if (index === undefined) throw new Error(`${FOLDER} has no index.html`);
  for (const address of ["/", "/ui"]) app.get(address, (_, reply) => sendHtml(reply, index));
  app.get<{ Params: { readonly "*": string } }>("/ui/*", (request, reply) => {
    const name = request.params["*"];
    const file = files.get(name);
    if (file !== undefined)
      return reply
        .headers(pageHeaders)
        .type(typeOf(name) as string)
        .send(file);
    if (!isView(request, name)) throw routeNotFound();
    return sendHtml(reply, index);
  });
}

export function sendHtml(reply: FastifyReply, html: string): FastifyReply {
  return reply.headers(pageHeaders).type(HTML).send(html);
}

/** Read once, by their names below the folder, so that no address ever becomes a path. */
function readFiles(): ReadonlyMap<string, Buffer> {
  const names = readdirSync(FOLDER, { recursive: true, encoding: "utf8" });
  return new Map([
    ...names
      .filter((name) => typeOf(name) !== undefined)
      .map((name) => [name.replaceAll(sep, "/"), readFileSync(join(FOLDER, name))] as const),
    ...SHARED.map((name) => [`model/${name}`, readFileSync(new URL(name, MODEL))] as const),
  ]);
}

function typeOf(name: string): string | undefined {
  const ending = extname(name);
  return Object.hasOwn(typeByEnding, ending) ? typeByEnding[ending] : undefined;
}

/**
 * Whether an address may be a view's, which only the page's script can tell. One with the ending of a file is the view of
 * something so named, a session for instance, where a browser opens it, and a missing file to everybody else.
 */
function isView(request: FastifyRequest, name: string): boolean {
  if (typeOf(name) !== undefined && !request.headers.accept?.includes("text/html")) return false;
  const segments = (request.raw.url ?? "").split("?", 1)[0]?.split("/") ?? [];
  return !segments.some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment));
}
