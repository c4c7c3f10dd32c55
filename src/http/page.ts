// The page at /: fixed files that hold no recorded text; their script asks the same routes as everybody else.
import { readFileSync } from "node:fs";
import type { FastifyInstance, FastifyReply } from "fastify";

/** The files lie beside the sources and are shipped from there: they are served as they are, not compiled. */
const FOLDER = new URL("../../../src/http/page/", import.meta.url);

const SECURITY_HEADERS = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cache-control": "no-cache",
};

export function pageRoutes(app: FastifyInstance): void {
  const index = readFileSync(new URL("index.html", FOLDER), "utf8");
  app.get("/", (_, reply) => sendHtml(reply, index));
  asset(app, "/page.css", "text/css; charset=utf-8");
  asset(app, "/docs.css", "text/css; charset=utf-8");
  asset(app, "/page.js", "text/javascript; charset=utf-8");
  asset(app, "/icon.svg", "image/svg+xml");
}

export function sendHtml(reply: FastifyReply, html: string): FastifyReply {
  return reply.headers(SECURITY_HEADERS).type("text/html; charset=utf-8").send(html);
}

function asset(app: FastifyInstance, path: string, type: string): void {
  const content = readFileSync(new URL(`.${path}`, FOLDER), "utf8");
  app.get(path, (_, reply) => reply.headers(SECURITY_HEADERS).type(type).send(content));
}
