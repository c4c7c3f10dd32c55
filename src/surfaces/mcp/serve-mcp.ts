// The two ways an MCP client comes in: over standard input and output, or with requests of its own over HTTP.
import { type AuthInfo, createMcpHandler } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { person } from "../../guard/keys.js";
import type { Scope } from "../../guard/scopes.js";
import { createMcpServer, type McpOptions } from "./mcp-server.js";

/** Serves the parent process; ends when it closes the input, or `close` is called. */
export function serveMcpOverStdio(options: Omit<McpOptions, "scope">): { close(): Promise<void> } {
  return serveStdio(() => createMcpServer({ ...options, scope: person.scope }));
}

interface McpCaller {
  readonly key_id: string;
  readonly scope: Scope;
}

export interface McpOverHttp {
  /** Answers one request, whose body was parsed already. */
  answer(request: Request, body: unknown, caller: McpCaller): Promise<Response>;
  close(): Promise<void>;
}

/** Keeps nothing between requests: each is served by a server of its own, and no session is begun. */
export function mcpOverHttp({ recorder, ...options }: Omit<McpOptions, "scope">): McpOverHttp {
  const handler = createMcpHandler(({ authInfo }) => {
    const { extra } = authInfo as AuthInfo;
    const { key_id, scope } = extra as unknown as McpCaller;
    return createMcpServer({ ...options, recorder: recorder.recordedBy(key_id), scope });
  });
  return {
    answer: (request, parsedBody, { key_id, scope }) => {
      const authInfo = { token: "", clientId: key_id, scopes: [scope], extra: { key_id, scope } };
      return handler.fetch(request, { authInfo, ...(parsedBody === undefined ? {} : { parsedBody }) });
    },
    close: () => handler.close(),
  };
}
