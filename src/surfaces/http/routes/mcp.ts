// MCP over streamable HTTP, stateless: each request contains everything needed to answer it.
import type { FastifyInstance, FastifyRequest } from "fastify";
import { isJsonObject } from "../../../model/json.js";
import { RecorderError } from "../../../model/rejection.js";
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
      refuseManyArguments(body);
      mcp ??= load();
      return (await mcp).answer(toWebRequest(request), body, callerOf(request));
    },
  });
}

/** No tool has as many; each would be looked at several times on its way. */
const ARGUMENTS_MAX = 1_000;

function refuseManyArguments(body: unknown): void {
  const params = isJsonObject(body) && isJsonObject(body.params) ? body.params : {};
  if (!isJsonObject(params.arguments) || Object.keys(params.arguments).length <= ARGUMENTS_MAX) return;
  const message = `a call has at most ${ARGUMENTS_MAX} arguments`;
  throw new RecorderError({ code: "too_many_values", field: "arguments", message });
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
