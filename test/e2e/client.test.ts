// The client SDK as agents live with it: servers that are down, spools, deaths and restarts.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { connectRecorder } from "../../client/index.js";
import { folderOfTest } from "../support/temporary-folder.js";
import { readJson } from "./cli-run.js";
import { AWAY, connect, heldPort, PATIENTLY, spoolFiles, standIn } from "./connected-client.js";
import { startServer } from "./http-client.js";

const agentFile = fileURLToPath(new URL("../support/agent.js", import.meta.url));

test("everything that can be captured arrives as it was given, numbered, and its labels with it", async () => {
  const server = await startServer();
  const { recorder, problems, spool } = connect(server.address, { project: "web", client: "bot" });
  const { id, status } = await recorder.recordInteraction({ prompt: "Why?", context_pack: { a: [1] } });
  expect(status).toBe("queued");
  await recorder.completeInteraction(id, { response: "Because.", usage: { input_tokens: 3 } });
  const session = recorder.session("s/1", { project: "other" });
  await session.message({ role: "user", content: "hello", id: "m" });
  await session.toolCall({ tool: "ls", args: { dir: "." }, result: ["a"], is_error: false });
  await session.decision({ decision: "go", confidence: 0.5 });
  await session.info({ title: "t" });
  await session.consolidate(2, { summary: "so far" });
  await session.clear();
  await recorder.feedback({ entry_id: "m", score: -1 });
  await recorder.within({ session_id: "w", memories_used: ["m1"], project: undefined }, async () => {
    await new Promise((resolve) => setTimeout(resolve, 1));
    await recorder.recordInteraction({ prompt: "in" });
    await recorder.append([{ kind: "error", error: "e", __proto__: "x" } as never, { kind: "error", error: "f" }]);
  });
  expect(await recorder.flush(PATIENTLY)).toEqual({ queued: 0, spooled: 0, sent: 12, dropped: 0 });
  expect(problems).toEqual([]);
  const { entries } = (await server.get("/entries?limit=50")).body;
  expect(entries.map((entry: { client_seq: number }) => entry.client_seq)).toEqual([
    12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1,
  ]);
  expect(new Set(entries.map((entry: { client_run: string }) => entry.client_run))).toEqual(
    new Set([recorder.client_run]),
  );
  expect((await server.get(`/interactions/${id}`)).body).toMatchObject({
    prompt: "Why?",
    response: "Because.",
    project: "web",
    client: "bot",
    context_pack: { a: [1] },
  });
  expect((await server.get("/entries/m")).body).toMatchObject({ session_id: "s/1", project: "other", client: "bot" });
  expect(entries[2]).toMatchObject({ session_id: "w", project: "web", memories_used: ["m1"] });
  expect(entries[1]).not.toHaveProperty("memories_used");
  expect(statSync(spool).mode & 0o777).toBe(0o700);
  await recorder.close();
  expect(spoolFiles(spool)).toEqual([]);
});

test("5,000 entries of a server that is down, an agent killed and started again: each arrives once, without a gap", async () => {
  const [{ port, release }, spool, data] = [await heldPort(), folderOfTest(), folderOfTest()];
  const url = `http://127.0.0.1:${port}`;
  const start = (...args: readonly string[]) =>
    spawn(process.execPath, [agentFile, url, spool, ...args], { stdio: "pipe" });
  const first = start("1", "2499", "wait");
  await once(first.stdout, "data");
  first.kill("SIGKILL");
  await once(first, "close");
  const second = start("2501", "2500", "exit");
  expect(await once(second, "close")).toEqual([0, null]);
  // Two at once find what the others left; of each file one has it.
  const heirs = [start("0", "0", "flush"), start("0", "0", "flush")];
  // Heard from the start: one that finds nothing left says so and is gone at once.
  const words = heirs.map(({ stdout }) => once(stdout, "data"));
  await new Promise((resolve) => setTimeout(resolve, 300));
  await release();
  const server = await startServer({ data, port });
  const told = await Promise.all(words);
  const sent = told.map(([line]) => Number(/^sent (\d+)\n$/.exec(String(line))?.[1]));
  expect(sent.reduce((sum, one) => sum + one)).toBe(5000);
  const counts = await readJson(["stats"], { data });
  expect(counts).toMatchObject({ entries: 5000 });
  const { findings } = await readJson(["doctor"], { data });
  expect(findings).toContainEqual({
    level: "ok",
    check: "clients",
    message: "no gap in what 2 runs of clients numbered",
  });
  expect(spoolFiles(spool)).toEqual([]);
  expect((await server.get("/verify")).body.ok).toBe(true);
}, 120_000);

test("a signal ends the agent as it would have, and what it captured is delivered by the next one", async () => {
  const [spool, server] = [folderOfTest(), await startServer()];
  const agent = spawn(process.execPath, [agentFile, AWAY, spool, "1", "3", "wait"], { stdio: "pipe" });
  await once(agent.stdout, "data");
  agent.kill("SIGTERM");
  expect(await once(agent, "close")).toEqual([null, "SIGTERM"]);
  const other = connect(server.address, { spool });
  // What was captured for one server is not sent to another.
  expect((await other.recorder.flush(PATIENTLY)).sent).toBe(0);
  const same = connect(AWAY, { spool });
  await same.recorder.flush();
  expect(same.recorder.counters).toMatchObject({ spooled: 4, sent: 0 });
});

test("an agent that ends by itself waits a moment for the server, and not for one that never answers", async () => {
  const server = await startServer();
  const run = async (url: string): Promise<void> => {
    const agent = spawn(process.execPath, [agentFile, url, folderOfTest(), "1", "2", "end"], { stdio: "pipe" });
    expect(await once(agent, "close")).toEqual([0, null]);
  };
  await run(server.address);
  expect((await server.get("/health")).body.position).toBe(2);
  // Whoever waited for the answer would wait for half a minute.
  await run(await standIn(() => undefined));
}, 25_000);

test("whatever an agent hands over, nothing is thrown, and what can be read of it arrives", async () => {
  const server = await startServer();
  const { recorder, problems } = connect(server.address);
  const no = (): never => {
    throw new Error("no");
  };
  const sly = (fields: object) => Object.defineProperty({ ...fields }, "note", { enumerable: true, get: no });
  await recorder.recordInteraction({ prompt: "Why?", id: "i" });
  await recorder.completeInteraction("i", sly({ response: "Because.", id: "r" }));
  const session = recorder.session("s", { project: "web", client: 7n as never });
  await session.message({ role: "user", content: "hello", id: "m" });
  // Positions are those that the log gave.
  await recorder.flush(PATIENTLY);
  await session.consolidate(3, sly({ id: "c" }));
  await session.withdraw(3, sly({ id: "w" }));
  const hostile = new Proxy({}, { get: no, ownKeys: no, getPrototypeOf: no });
  const { proxy: gone, revoke } = Proxy.revocable([], {});
  revoke();
  const wordless = {
    toJSON() {
      throw Object.create(null);
    },
  };
  for (const nothing of [undefined, null, "text", 7, [], [[]], hostile, gone, wordless]) {
    await recorder.append(nothing as never);
    expect(recorder.session("s", nothing as never).id).toBe("s");
    await recorder.recordInteraction(nothing as never);
    await recorder.completeInteraction("i", nothing as never);
    await session.message(nothing as never);
    expect(recorder.within(nothing as never, () => 1)).toBe(1);
  }
  const nameless = Object.defineProperty(() => 1, "name", { get: wordless.toJSON });
  await session.toolCall({ tool: "t", args: { nameless }, id: "n" });
  const { queued, spooled, sent } = await recorder.flush(PATIENTLY);
  expect({ queued, spooled, sent }).toEqual({ queued: 0, spooled: 0, sent: 6 });
  expect((await server.get("/entries/n")).body.args).toEqual({ nameless: "[function no words]" });
  expect(problems.length).toBeGreaterThan(0);
  const { entries } = (await server.get("/entries")).body;
  expect(entries.map(({ id }: { id: string }) => id).toReversed()).toEqual(["i", "r", "m", "c", "w", "n"]);
  expect((await server.get("/interactions/i")).body).toMatchObject({ response: "Because." });
  expect((await server.get("/entries/m")).body).toMatchObject({ project: "web", client: "7" });
  const kept = { through: 3, session_id: "s", extra: { note: "[not serialisable: no]" } };
  expect((await server.get("/entries/c")).body).toMatchObject(kept);
});

test("a spool that is full, corrupt, shared or not to be had loses no more than it says", async () => {
  const server = await startServer();
  const full = connect(AWAY, { spool_bytes_max: 100 });
  for (let at = 0; at < 3; at += 1) await full.recorder.append({ kind: "error", error: `e${at}` });
  expect(full.recorder.counters).toMatchObject({ spooled: 1, dropped: 2 });
  expect(full.problems).toContainEqual({ code: "spool_full", message: expect.any(String), dropped: 1 });

  const left = connect(server.address, { linger_ms: 100_000 });
  await left.recorder.append([
    { kind: "error", id: "a", error: "a" },
    { kind: "error", id: "b", error: "b" },
  ]);
  const [file = ""] = spoolFiles(left.spool);
  const abandoned = file.replace(/[0-9a-f]{8}-\d+-/, "closed-0-x");
  writeFileSync(join(left.spool, abandoned), `${readFileSync(join(left.spool, file), "utf8")}garbage\n{"kind":"err`);
  const heirs = [connect(server.address, { spool: left.spool }), connect(server.address, { spool: left.spool })];
  await Promise.all(heirs.map(({ recorder }) => recorder.flush(PATIENTLY)));
  expect(heirs.map(({ recorder }) => recorder.counters.sent).sort()).toEqual([0, 2]);
  await Promise.all(heirs.map(({ recorder }) => recorder.close()));
  expect(heirs.flatMap(({ problems }) => problems)).toMatchObject([
    { code: "spool_corrupt", dropped: 1 },
    { code: "spool_corrupt", dropped: 1 },
  ]);
  expect(readFileSync(join(left.spool, file, "..", "corrupt.txt"), "utf8")).toBe('garbage\n{"kind":"err\n');
  await left.recorder.flush(PATIENTLY);
  expect((await server.get("/health")).body.position).toBe(2);

  const blocked = join(folderOfTest(), "file");
  appendFileSync(blocked, "");
  const memory = connect(server.address, { spool: blocked, memory_bytes_max: 500 });
  expect(memory.problems).toMatchObject([{ code: "spool_failed" }]);
  await memory.recorder.append({ kind: "error", error: "f" });
  await memory.recorder.append({ kind: "error", error: "g".repeat(600) });
  expect(await memory.recorder.flush(PATIENTLY)).toEqual({ queued: 0, spooled: 0, sent: 1, dropped: 1 });
  await memory.recorder.close();
  expect((await memory.recorder.append({ kind: "error", error: "late" }))[0]?.status).toBe("dropped");
  expect(memory.recorder.counters.dropped).toBe(2);
});

test("an invalid address is refused at once", () => {
  expect(() => connectRecorder("localhost")).toThrow("give for example http://127.0.0.1:4747");
  expect(() => connectRecorder({ url: "file:///tmp" })).toThrow("not the address of a server");
});
