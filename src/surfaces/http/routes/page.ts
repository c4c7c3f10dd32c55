// The page at / and under /ui/: fixed files that hold no recorded text; their script asks the same routes as everybody else.
import { readdirSync, readFileSync } from "node:fs";
import { extname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import Negotiator from "negotiator";
import { packageFile } from "../../../model/files.js";
import { pageHeaders, routeNotFound } from "../checks/errors.js";

/** What the build makes of ui/. */
const FOLDER = fileURLToPath(packageFile("dist/page/"));

/** Names that hold a hash of what is in them: another content has another name. */
const NAMED_BY_CONTENT = /^assets\//;
const COMPRESSED = /\.(?:js|css|svg|html)$/;

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

/** The files of the page, by their names, and the document that every view is. */
export interface PageFiles {
  readonly files: ReadonlyMap<string, PageFile>;
  readonly index: string;
}

export function readPage(): PageFiles {
  const files = readFiles();
  const index = files.get("index.html")?.bytes.toString();
  if (index === undefined) throw new Error(`${FOLDER} has no index.html`);
  return { files, index };
}

export function pageRoutes(app: FastifyInstance, { files, index }: PageFiles): void {
  const open = { config: { need: "open" } } as const;
  for (const address of ["/", "/ui"]) app.get(address, open, (_, reply) => sendHtml(reply, index));
  app.get<{ Params: { readonly "*": string } }>("/ui/*", open, (request, reply) => {
    const name = request.params["*"];
    const file = files.get(name);
    if (file !== undefined) return sendFile(request, reply, file);
    if (!isView(request, name)) throw routeNotFound();
    return sendHtml(reply, index);
  });
}

/**
 * Whether a browser opens a view at an address that no route can be looked up for, such as one with a truncated escape:
 * a person gets the page, which says that nothing is there.
 */
export function isUnreadableView({ method, headers, raw }: FastifyRequest): boolean {
  return method === "GET" && headers.accept?.includes("text/html") === true && raw.url?.startsWith("/ui/") === true;
}

export function sendHtml(reply: FastifyReply, html: string): FastifyReply {
  return reply.headers(pageHeaders).type(HTML).send(html);
}

interface PageFile {
  readonly name: string;
  readonly bytes: Buffer;
  /** Made when it is first asked for. */
  compressed?: Buffer;
}

function sendFile(request: FastifyRequest, reply: FastifyReply, file: PageFile): FastifyReply {
  reply.headers(pageHeaders).type(typeOf(file.name) as string);
  if (NAMED_BY_CONTENT.test(file.name)) reply.header("cache-control", "public, max-age=31536000, immutable");
  if (!COMPRESSED.test(file.name)) return reply.send(file.bytes);
  reply.header("vary", "Accept-Encoding");
  if (new Negotiator(request.raw).encoding(["gzip", "identity"]) !== "gzip") return reply.send(file.bytes);
  file.compressed ??= gzipSync(file.bytes, { level: 9 });
  return reply.header("content-encoding", "gzip").send(file.compressed);
}

/** Read once, by their names below the folder: no address ever becomes a path. */
function readFiles(): ReadonlyMap<string, PageFile> {
  const names = readdirSync(FOLDER, { recursive: true, encoding: "utf8" });
  return new Map(
    names
      .filter((name) => typeOf(name) !== undefined)
      .map((path) => ({ name: path.replaceAll(sep, "/"), bytes: readFileSync(join(FOLDER, path)) }))
      .map((file) => [file.name, file] as const),
  );
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
