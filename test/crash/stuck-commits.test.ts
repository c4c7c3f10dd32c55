// A log that another program keeps locked: captures are refused in time, health says so meanwhile, and all goes on afterwards.
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { Database } from "../../src/engines/sqlite/driver.js";
import { type HttpResponse, startServer } from "../e2e/http-client.js";
import { folderOfTest } from "../support/temporary-folder.js";

test("while captures wait, health is a 503 before they are refused after ten seconds", async () => {
  const data = folderOfTest();
  const server = await startServer({ data });
  await server.post("/entries", { kind: "error", error: "before" });
  const db = new Database(join(data, "log.db"));
  onTestFinished(() => void db.close());
  db.exec("BEGIN IMMEDIATE");
  const startMs = performance.now();
  const capture = server.post("/entries", { kind: "error", error: "meanwhile" });
  let answer: HttpResponse | undefined;
  void capture.then((got) => {
    answer = got;
  });
  let troubledMs: number | undefined;
  while (answer === undefined) {
    const { status, body } = await server.get("/health");
    if (status === 503 && answer === undefined) {
      expect(body).toMatchObject({ status: "degraded", trouble: "store_busy" });
      troubledMs ??= performance.now() - startMs;
    }
    await delay(250);
  }
  expect(answer).toMatchObject({ status: 503, body: { error: { code: "store_busy" } } });
  expect(performance.now() - startMs).toBeLessThan(20_000);
  expect(troubledMs).toBeLessThan(10_000);
  expect(await server.get("/health")).toMatchObject({
    status: 503,
    body: { trouble: "store_busy", problems: [{ code: "store_busy" }] },
  });
  expect(await server.get("/ready")).toMatchObject({ status: 503, body: { ready: false, trouble: "store_busy" } });
  db.exec("ROLLBACK");
  expect((await server.post("/entries", { kind: "error", error: "after" })).status).toBe(201);
  expect(await server.get("/health")).toMatchObject({
    status: 200,
    body: { status: "ok", position: 2, problems: [] },
  });
  expect(await server.get("/ready")).toMatchObject({ status: 200, body: { ready: true } });
});
