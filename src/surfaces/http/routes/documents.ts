// The description of the interface: as an OpenAPI document for programs, and as a page for people.
import type { FastifyInstance, FastifyRequest } from "fastify";
import { renderDocs } from "../describe/docs-page.js";
import { type OpenApiDocument, openApiDocument } from "../describe/openapi.js";
import { sendHtml } from "./page.js";

export function documentRoutes(
  app: FastifyInstance,
  options: { readonly version: string; readonly paths: OpenApiDocument["paths"] },
): void {
  let made: OpenApiDocument | undefined;
  // All routes must be there before it is made.
  const document = (): OpenApiDocument => {
    made ??= openApiDocument(options);
    return made;
  };
  app.get("/openapi.json", () => document());
  app.get("/docs", (request, reply) => sendHtml(reply, renderDocs(document(), originOf(request))));
}

/** Where the examples are sent: this very server, under the name it was asked by. */
function originOf({ protocol, host }: FastifyRequest): string {
  return /^[\w.:[\]-]{1,100}$/.test(host) ? `${protocol}://${host}` : "http://127.0.0.1:4747";
}
