// Who may do what: the scope that every route needs, in one table. A route that is not in it keeps the server from
// starting, so that nothing is ever open by mistake.
import type { Scope } from "../model/scope.js";

/** `open` needs no key and shows no recorded text; `any` needs a key, and what it may do is decided further in. */
export type Need = Scope | "open" | "any";

/** Paths as the routes spell them. HEAD needs what GET needs. */
export const needByRoute: { readonly [route: string]: Need } = {
  "GET /": "open",
  "GET /ui": "open",
  "GET /ui/*": "open",
  "GET /docs": "open",
  "GET /openapi.json": "open",
  "GET /health": "open",

  "POST /interactions": "capture",
  "POST /interactions/:id/response": "capture",
  "POST /entries": "capture",
  "POST /sessions/:id/clear": "capture",
  "POST /sessions/:id/consolidate": "capture",
  "POST /hooks/claude-code": "capture",

  "GET /metrics": "metrics",

  "GET /interactions": "read",
  "GET /interactions/:id": "read",
  "GET /entries": "read",
  "GET /entries/:id": "read",
  "GET /entries/:id/context": "read",
  "GET /entries/:id/told": "read",
  "GET /sessions": "read",
  "GET /sessions/:id": "read",
  "GET /sessions/:id/entries": "read",
  "GET /sessions/:id/history": "read",
  "GET /search": "read",
  "GET /session-history": "read",
  "GET /stats": "read",
  "GET /reflection": "read",
  "GET /usage": "read",
  "GET /memories": "read",
  "GET /memories/:id": "read",
  "GET /recall": "read",
  "GET /tail": "read",
  "GET /verify": "read",

  "POST /interactions/:id/extract": "review",
  "POST /interactions/:id/reinforce": "review",
  "POST /memories/:id/promote": "review",
  "POST /memories/:id/reject": "review",
  "POST /memories/:id/supersede": "review",
  "POST /memories/verdicts": "review",
  "POST /memories/audit": "review",
  "POST /memories/import": "review",

  "GET /doctor": "admin",
  "GET /export": "admin",
  "POST /forget": "admin",

  "POST /memories": "any",
  "GET /access": "any",
  "GET /mcp": "any",
  "POST /mcp": "any",
  "DELETE /mcp": "any",
};
