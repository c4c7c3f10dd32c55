// The two ways an MCP client comes in: over standard input and output, or with requests of its own over HTTP.
import { type AuthInfo, createMcpHandler } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { type Caller, person } from "../../guard/keys.js";
import { createMcpServer, type McpOptions } from "./mcp-server.js";

/** Serves the parent process; ends when it closes the input, or `close` is called. */
export function serveMcpOverStdio(options: Omit<McpOptions, "caller">): { close(): Promise<void> } {
  return serveStdio(() => createMcpServer({ ...options, caller: person }));
}

export interface McpOverHttp {
  /** Answers one request, whose body was parsed already. */
  answer(request: Request, body: unknown, caller: Caller): Promise<Response>;
  close(): Promise<void>;
}

/** Keeps nothing between requests: each is served by a server of its own, and no session is begun. */
export function mcpOverHttp({ recorder, ...options }: Omit<McpOptions, "caller">): McpOverHttp {
  const handler = createMcpHandler(({ authInfo }) => {
    const { extra } = authInfo as AuthInfo;
    const caller = extra as unknown as Caller;
    return createMcpServer({ ...options, recorder: recorder.recordedBy(caller.key_id, caller.scope), caller });
  });
  return {
    answer: (request, parsedBody, caller) => {
      const authInfo = { token: "", clientId: caller.key_id, scopes: [caller.scope], extra: { ...caller } };
      return handler.fetch(request, { authInfo, ...(parsedBody === undefined ? {} : { parsedBody }) });
    },
    close: () => handler.close(),
  };
}
