// MCP over streamable HTTP, stateless: each request contains everything needed to answer it.
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Recorder } from "../../../recorder/recorder.js";
import type { McpOverHttp } from "../../mcp/mcp-server.js";
import { bodyOf } from "../checks/bodies.js";
import { callerOf } from "../checks/callers.js";
import { componentSchemas } from "../describe/openapi.js";

export function mcpRoutes(
  app: FastifyInstance,
  { recorder, version }: { readonly recorder: Recorder; readonly version: string },
): void {
  let mcp: Promise<McpOverHttp> | undefined;
  // Loaded on first use: it takes longer than the rest of a server's start.
  const load = async (): Promise<McpOverHttp> => {
    const { mcpOverHttp } = await import("../../mcp/mcp-server.js");
    return mcpOverHttp({ recorder, version, schemas: componentSchemas() });
  };
  app.addHook("onClose", async () => (await mcp)?.close());
  app.route({
    method: ["GET", "POST", "DELETE"],
    url: "/mcp",
    // Reads of tools are queued with all other reads.
    config: { need: "any", gate: "reads" },
    exposeHeadRoute: false,
    handler: async (request) => {
      const body = request.method === "POST" ? bodyOf(request) : undefined;
      mcp ??= load();
      return (await mcp).answer(toWebRequest(request), body, callerOf(request));
    },
  });
}

/** The body is passed on parsed, because it was read within this server's limits. */
function toWebRequest({ method, headers, url }: FastifyRequest): Request {
  const forwarded = Object.entries(headers).filter(([name]) => /^(?:accept$|content-type$|mcp-)/.test(name));
  return new Request(new URL(url, "http://localhost"), {
    method,
    headers: forwarded as [string, string][],
    ...(method === "POST" ? { body: "" } : {}),
  });
}
