// The page at /: fixed files that hold no recorded text; their script asks the same routes as everybody else.
import { readFileSync } from "node:fs";
import type { FastifyInstance, FastifyReply } from "fastify";
import { pageHeaders } from "../door/security-headers.js";

/** The files lie beside the sources and are shipped from there: they are served as they are, not compiled. */
const FOLDER = new URL("../../../../src/http/page/", import.meta.url);

export function pageRoutes(app: FastifyInstance): void {
  const index = readFileSync(new URL("index.html", FOLDER), "utf8");
  app.get("/", (_, reply) => sendHtml(reply, index));
  asset(app, "/page.css", "text/css; charset=utf-8");
  asset(app, "/docs.css", "text/css; charset=utf-8");
  asset(app, "/page.js", "text/javascript; charset=utf-8");
  asset(app, "/icon.svg", "image/svg+xml");
}

export function sendHtml(reply: FastifyReply, html: string): FastifyReply {
  return reply.headers(pageHeaders).type("text/html; charset=utf-8").send(html);
}

function asset(app: FastifyInstance, path: string, type: string): void {
  const content = readFileSync(new URL(`.${path}`, FOLDER), "utf8");
  app.get(path, (_, reply) => reply.headers(pageHeaders).type(type).send(content));
}
