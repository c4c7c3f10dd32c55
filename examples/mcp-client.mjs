// An agent that reads its own past over MCP: it looks a word up before it begins, and records what it decides.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const word = process.argv[2] ?? "sky";
const { HANSARD_URL = "http://127.0.0.1:4747", HANSARD_KEY } = process.env;
const requestInit = HANSARD_KEY === undefined ? {} : { headers: { authorization: `Bearer ${HANSARD_KEY}` } };

const client = new Client({ name: "example", version: "1" }, { versionNegotiation: { mode: "auto" } });
await client.connect(new StreamableHTTPClientTransport(new URL(`${HANSARD_URL}/mcp`), { requestInit }));

const found = await client.callTool({ name: "session_history", arguments: { query: word } });
console.log(found.content[0].text);

const decision = { session_id: "example:mcp", decision: `Look into ${word}`, rationale: "It came up before." };
const recorded = await client.callTool({ name: "record_decision", arguments: decision });
console.log(recorded.content[0].text);
await client.close();
