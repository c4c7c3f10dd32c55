// Who may do what: the scope that every route needs. A route that is not here keeps the server from starting: nothing is
// ever open by mistake.
import { operationList } from "./index.js";
import type { Need } from "./operation.js";

/** Paths as the routes spell them. HEAD needs what GET needs. */
export const needByRoute: { readonly [route: string]: Need } = {
  ...Object.fromEntries(operationList.map(({ route, scope }) => [route, scope])),

  "GET /": "open",
  "GET /ui": "open",
  "GET /ui/*": "open",
  "GET /docs": "open",
  "GET /openapi.json": "open",
  "GET /health": "open",

  "POST /hooks/claude-code": "capture",

  "GET /metrics": "metrics",

  "GET /tail": "read",
  "GET /verify": "read",

  "GET /doctor": "admin",
  "GET /export": "admin",

  "GET /access": "any",
  "GET /mcp": "any",
  "POST /mcp": "any",
  "DELETE /mcp": "any",
};
