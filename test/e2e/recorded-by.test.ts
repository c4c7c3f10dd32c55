// By whose key an entry came in: given by the server, in the chain, and the same wherever the entry goes.
import { join } from "node:path";
import { expect, test } from "vitest";
import { openRecorder, type Recorder } from "../../src/index.js";
import { copyStore } from "../../src/recorder/copy-store.js";
import { databaseOfTest } from "../support/postgres.js";
import { folderOfTest } from "../support/temporary-folder.js";
import { runCli } from "./cli-run.js";
import { startServer, type TestServer } from "./http-client.js";

interface KeyedServer {
  readonly server: TestServer;
  readonly id: string;
  readonly other: string;
  readonly auth: { readonly [name: string]: string };
  readonly otherAuth: { readonly [name: string]: string };
}

async function keyedServer(data?: string): Promise<KeyedServer> {
  const server = await startServer(data === undefined ? {} : { data });
  const headers = (key: string) => ({ "content-type": "application/json", authorization: `Bearer ${key}` });
  await server.post("/entries", { kind: "error", id: "before", error: "before there were keys" });
  const first = await server.recorder.keys.create({ scope: "admin" });
  const second = await server.recorder.keys.create({ scope: "capture" });
  return {
    server,
    id: first.id,
    other: second.id,
    auth: headers(first.key),
    otherAuth: headers(second.key),
  };
}

test("every way in through the server gives the id of the key, and every way out shows it", async () => {
  const { server, id, auth } = await keyedServer();
  const post = (path: string, body: unknown) => server.post(path, body, auth);
  await post("/interactions", { id: "asked", prompt: "p", session_id: "s" });
  const { position } = (await post("/interactions/asked/response", { response: "r" })).body;
  await post("/entries", [{ kind: "message", id: "said", session_id: "s", role: "user", content: "hello" }]);
  await post("/sessions/s/clear", { id: "cleared" });
  await post("/forget", { entry: "said", reason: "asked to" });
  await server.request("/export", { headers: auth });
  const get = async (path: string) => (await server.request(path, { headers: auth })).body;
  for (const entry of ["asked", position, "said", "cleared"]) {
    expect(await get(`/entries/${entry}`)).toMatchObject({ recorded_by: id });
  }
  expect(await get("/entries/before")).toMatchObject({ recorded_by: "" });
  const { entries } = await get("/entries?kind=audit");
  const byAction = entries.map((entry: { action: string; recorded_by: string }) => [entry.action, entry.recorded_by]);
  expect(byAction).toEqual([
    ["export", id],
    ["forget", id],
    ["key_created", ""],
    ["key_created", ""],
  ]);
  expect((await get("/interactions")).interactions).toMatchObject([{ id: "asked", recorded_by: id }]);
  expect((await get("/search?q=before")).results).toMatchObject([{ id: "before", recorded_by: "" }]);
  expect((await get("/sessions/s/entries")).entries).toMatchObject([{ recorded_by: id }, {}, { recorded_by: id }]);
  const tail = server.recorder.tail({ after: 0, kind: "clear" });
  expect((await tail.next()).value).toMatchObject({ id: "cleared", recorded_by: id });
  await tail.return();
  expect(await get("/verify")).toMatchObject({ ok: true });
});

test("what a caller says about it is kept as extra, and decides nothing", async () => {
  const { server, id, auth } = await keyedServer();
  await server.post("/entries", { kind: "error", id: "liar", error: "e", recorded_by: "somebody" }, auth);
  const entry = await server.recorder.getEntry("liar");
  expect(entry).toMatchObject({ recorded_by: id, extra: { recorded_by: "somebody" } });
});

test("the same entry sent with another key is the same entry, and stays who brought it first", async () => {
  const { server, id, auth, otherAuth } = await keyedServer();
  const entry = { kind: "error", id: "twice", error: "e" };
  expect((await server.post("/entries", entry, auth)).status).toBe(201);
  const again = await server.post("/entries", entry, otherAuth);
  expect([again.status, again.body.status]).toEqual([200, "already_recorded"]);
  expect(await server.recorder.getEntry("twice")).toMatchObject({ recorded_by: id });
});

test("it goes along into exports, imports, copies to other engines and backups, with the same hashes", async () => {
  const data = join(folderOfTest(), "store");
  const { server, id, other, auth, otherAuth } = await keyedServer(data);
  await server.post("/entries", { kind: "error", id: "one", error: "e" }, auth);
  await server.post("/entries", { kind: "error", id: "two", error: "e" }, otherAuth);
  await server.post("/forget", { entry: "one", reason: "asked to" }, auth);
  const { text } = await server.request("/export", { headers: auth });
  const { position } = await server.recorder.health();
  await server.close();
  const folder = folderOfTest();
  const [imported, restored, database] = [join(folder, "imported"), join(folder, "restored"), await databaseOfTest()];
  expect(await runCli(["import", "-"], { data: imported, input: text })).toMatchObject({ status: 0 });
  await copyStore({ from: data, to: database });
  const back = join(folder, "back");
  await copyStore({ from: database, to: back });
  expect(await runCli(["backup", join(folder, "copy.db")], { data })).toMatchObject({ status: 0 });
  expect(await runCli(["restore", join(folder, "copy.db")], { data: restored })).toMatchObject({ status: 0 });
  const original = await entriesOf(data, position - 1);
  expect(original.map(({ recorded_by }) => recorded_by)).toEqual(["", "", "", id, other, id, id]);
  for (const copy of [imported, restored, database, back]) {
    expect(await entriesOf(copy, position - 1)).toEqual(original);
  }
});

test("the library takes only what can be the id of a key", async () => {
  const recorder = await openRecorder({ data: "memory:" });
  expect(() => recorder.recordedBy("a\nb")).toThrow(
    expect.objectContaining({ code: "field_invalid", field: "key_id" }),
  );
  expect(recorder.recordedBy("")).toBe(recorder);
  await recorder.recordedBy("k1").append({ kind: "error", id: "e", error: "e" });
  expect(await recorder.getEntry("e")).toMatchObject({ recorded_by: "k1" });
  await recorder.close();
  expect(() => recorder.recordedBy("k1")).toThrow(expect.objectContaining({ code: "recorder_closed" }));
});

type Read = NonNullable<Awaited<ReturnType<Recorder["getEntry"]>>>;

async function entriesOf(data: string, through: number): Promise<readonly Read[]> {
  const recorder = await openRecorder({ data, create: false });
  try {
    expect(await recorder.verify()).toMatchObject({ ok: true });
    const entries: Read[] = [];
    for (let position = 1; position <= through; position += 1) {
      entries.push((await recorder.getEntry(position)) as Read);
    }
    return entries;
  } finally {
    await recorder.close();
  }
}
