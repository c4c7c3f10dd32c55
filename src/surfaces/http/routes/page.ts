// The page at / and under /ui/: static files without recorded text; their script uses the same routes as any client.
import { readdirSync, readFileSync } from "node:fs";
import { extname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import Negotiator from "negotiator";
import { packageFile } from "../../../model/files.js";
import { pageHeaders, routeNotFound } from "../checks/errors.js";

/** The build output of ui/. */
const FOLDER = fileURLToPath(packageFile("dist/page/"));

/** Names with a hash of the content: other content has another name. */
const NAMED_BY_CONTENT = /^assets\//;
const COMPRESSED = /\.(?:js|css|svg|html)$/;

const HTML = "text/html; charset=utf-8";

/** File types of the page. Other endings are parts of names, such as a session called `v1.2`. */
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

/** The files of the page, by name, and the document of every view. */
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
 * Whether a browser opens a view at an address that the router cannot parse, such as one with a truncated escape: a
 * person gets the page, which says that nothing is there.
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
  /** Built on first use. */
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

/** Read once, by names below the folder: no URL ever becomes a path. */
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
 * Whether an address may be a view's, which only the page's script knows. One with the ending of a file is a view if a
 * browser opens it (a session with such a name), and a missing file to any other client.
 */
function isView(request: FastifyRequest, name: string): boolean {
  if (typeOf(name) !== undefined && !request.headers.accept?.includes("text/html")) return false;
  const segments = (request.raw.url ?? "").split("?", 1)[0]?.split("/") ?? [];
  return !segments.some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment));
}
