// A server as a store where it hangs or speaks no TLS, and what has a route of its own there.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ServerConnection } from "../../src/recorder/remote/server-connection.js";
import { folderOfTest } from "../support/temporary-folder.js";
import { readError, readJson } from "./cli-run.js";
import { standIn } from "./connected-client.js";
import { startServer } from "./http-client.js";

test("a server that hangs, before its answer or in it, times out, and one without TLS gets a clear error", async () => {
  const address = await standIn((request, response) => {
    if (request.url === "/health") response.writeHead(200, { "content-type": "application/json" }).write('{"a":');
  });
  const connection = new ServerConnection({ address, key: undefined, answer_ms: 50 });
  const asked = [
    connection.get("/health", []),
    connection.get("/stats", []),
    connection.open("/tail"),
    connection.post("/a", [], { body: {} }),
    connection.findBytes("/health", "entry_not_found"),
  ];
  for (const outcome of await Promise.allSettled(asked)) {
    expect(outcome).toMatchObject({
      status: "rejected",
      reason: {
        code: "store_unavailable",
        message: `the server at ${address} cannot be reached: no answer within 0.05 seconds`,
      },
    });
  }
  const secure = await readError(["list"], { data: address.replace("http:", "https:") });
  expect(secure).toMatchObject({ code: "store_unavailable", message: expect.stringContaining("does not speak TLS") });
  expect(JSON.stringify(secure)).not.toContain("openssl");
});

test("memory files are imported through a server as into its store", async () => {
  const server = await startServer();
  const file = join(folderOfTest(), "CLAUDE.md");
  const said = "The staging database listens on port 5433 behind the gateway.";
  await server.post("/entries", { kind: "message", session_id: "s", role: "user", content: said });
  writeFileSync(file, `- ${said}\n- Releases are made by the harbour master on Tuesdays.\n`);
  const first = await readJson(["import", file], { data: server.address });
  expect(first).toMatchObject({ files: 1, added: 1, existing: 0, rejected: [{ file, line: 2 }] });
  expect(await readJson(["import", file], { data: server.address })).toEqual({ ...first, added: 0, existing: 1 });
  const { memories } = await readJson(["memories", "--source", "import"], { data: server.address });
  expect(memories).toMatchObject([{ status: "candidate", source: "import" }]);
});
