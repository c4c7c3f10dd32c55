// Models that lie in how they answer: servers that fail, hang, lead elsewhere or never end, and commands that do. A pass that
// was stopped goes on, whatever is sent is counted, and nothing is left behind.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, onTestFinished, test } from "vitest";
import { packOwn } from "../../src/log/capture/draft.js";
import { folderOfFile } from "../support/temporary-folder.js";
import { repeatableContext } from "../support/write-context.js";
import { askedModels, completionOf, documentOf, REQUEST, TRUE, told, wholeRecord } from "./asked-models.js";

const asked = askedModels();
const folder = folderOfFile();
const answerFile = join(folder, "answer.txt");
const via = `cat > /dev/null; cat ${answerFile}`;
const honest = completionOf(documentOf(told("preference", TRUE, 1, REQUEST)));
const model = () => ({ url: asked.url, model: "liar" });
const extract = (more: object = {}) => asked.recorder.memories.extract({ model: model(), session_id: "s", ...more });

describe("a server that", () => {
  const patient = { "retry-after": "0" };
  test.each<[string, (response: ServerResponse) => void, number, string]>([
    ["asks to retry later", (to) => to.writeHead(429, patient).end(), 3, "429"],
    ["asks to retry in the past", (to) => to.writeHead(429, { "retry-after": "-1" }).end(), 3, "429"],
    ["fails", (to) => to.writeHead(500, patient).end("{"), 3, "500"],
    ["is overloaded", (to) => to.writeHead(503, patient).end(honest), 3, "503"],
    ["wants another key", (to) => to.writeHead(401).end(honest), 1, "401"],
    ["does not know the question", (to) => to.writeHead(400).end(honest), 1, "400"],
    ["leads elsewhere", (to) => leads(to, 302), 1, "redirects"],
    ["leads elsewhere with the question", (to) => leads(to, 307), 1, "redirects"],
    ["leads elsewhere for good", (to) => leads(to, 308), 1, "redirects"],
    ["hangs up", (to) => to.destroy(), 1, "reached"],
    [
      "hangs up in the middle",
      (to) => to.writeHead(200, { "content-length": "999" }).write(honest.slice(0, 50), () => to.destroy()),
      1,
      "reached",
    ],
    ["says half of it", (to) => to.end(honest.slice(0, 70)), 1, "not a model response"],
    ["says what is no gzip", (to) => to.writeHead(200, { "content-encoding": "gzip" }).end(honest), 1, "reached"],
    ["says nothing at all", (to) => to.end(), 1, "not a model response"],
    ["has nothing to say", (to) => to.writeHead(204).end(), 1, "not a model response"],
    ["is a page", (to) => to.end("<html>sign in</html>"), 1, "not a model response"],
  ])("%s: the pass stops, all that was sent is counted, and it goes on", async (_, lie, times, reason) => {
    const before = await wholeRecord(asked.recorder);
    asked.answer = lie;
    const { candidates, stopped } = await extract();
    expect([candidates, asked.times, asked.elsewhere.times]).toEqual([[], times, 0]);
    expect(stopped).toContain(reason);
    expect(await wholeRecord(asked.recorder)).toEqual(before);
    expect(await sentCounts()).toHaveLength(times);
    asked.answer = (response) => response.end(honest);
    expect((await extract()).candidates).toHaveLength(1);
    expect(await sentCounts()).toHaveLength(times + 1);
  });

  test.each<[string, (response: ServerResponse) => void]>([
    ["blows up a gigabyte", (to) => to.writeHead(200, { "content-encoding": "gzip" }).end(bomb())],
    ["never ends", (to) => pour(to)],
  ])("%s is heard no longer than a megabyte, once", async (_, lie) => {
    asked.answer = lie;
    expect(await extract()).toMatchObject({
      candidates: [],
      dropped_by_gate: { answer: 1 },
    });
    await extract();
    expect(asked.times).toBe(1);
  });

  test("says that everything is too long is asked a bounded number of times, and the piece is given up with a reason", async () => {
    asked.answer = (response) => response.writeHead(413).end();
    const { dropped_by_gate, stopped } = await extract();
    expect([dropped_by_gate, stopped]).toEqual([{ answer: 1 }, undefined]);
    expect(asked.times).toBeLessThan(10);
    expect(await sentCounts()).toHaveLength(asked.times);
  });

  test("always refuses a segment is sent it three times, in as many passes; older ones are read meanwhile", async () => {
    asked.answer = (response, question) => {
      if (question.includes(REQUEST)) response.writeHead(400).end("filtered");
      else response.end(completionOf(documentOf()));
    };
    const all = () => asked.recorder.memories.extract({ model: model(), entries_min: 1 });
    for (const times of [2, 3]) {
      const { stopped, dropped } = await all();
      expect([stopped, dropped, asked.times]).toEqual([expect.stringContaining("400"), [], times]);
    }
    const { stopped, dropped } = await all();
    expect([stopped, asked.times]).toEqual([undefined, 4]);
    expect(dropped).toMatchObject([{ dropped: "answer", reason: expect.stringContaining("given up") }]);
    expect(dropped[0]?.reason).toContain("400");
    expect(await all()).toMatchObject({ candidates: [], dropped: [] });
    expect(asked.times).toBe(4);
  });

  test("refuses whatever it is asked is asked about three pieces, and then the pass stops", async () => {
    const said = { kind: "message", role: "user", project: "atlas" } as const;
    for (const session_id of ["c", "d", "e"]) {
      await asked.recorder.append({ ...said, session_id, content: `Hello from session ${session_id}` });
    }
    asked.nowMs += 3_600_000;
    asked.answer = (response) => response.writeHead(422).end();
    const { stopped } = await asked.recorder.memories.extract({ model: model(), entries_min: 1 });
    expect([stopped, asked.times]).toEqual([expect.stringContaining("422"), 3]);
  });

  test("says nothing and hangs does not block closing, and what it was sent is counted", async () => {
    asked.answer = () => undefined;
    await asked.recorder.learn({ entries_min: 1, model: model(), look_ms: 1, gather_ms: 0 });
    await expect.poll(() => asked.times).toBe(1);
    expect(await sentCounts()).toHaveLength(1);
    await asked.recorder.close();
  });

  test("has a user and a password in its address is none that is asked, and the password is not repeated", async () => {
    const named = { url: "https://anna:sesame@example.com/v1", model: "m" };
    const refused = asked.recorder.memories.extract({ model: named });
    await expect(refused).rejects.toMatchObject({ code: "field_invalid", field: "model_url" });
    await expect(refused).rejects.not.toThrow("sesame");
  });
});

function leads(response: ServerResponse, status: number): void {
  response.writeHead(status, { location: asked.elsewhere.url }).end();
}

function bomb(): Buffer {
  return gzipSync(Buffer.alloc(256 * 1024 * 1024, 32));
}

function pour(response: ServerResponse): void {
  const more = (): void => {
    while (!response.destroyed && response.write(" ".repeat(65_536)));
  };
  response.on("drain", more);
  more();
}

async function sentCounts(): Promise<readonly number[]> {
  const { entries } = await asked.recorder.listEntries({ kind: "audit" });
  const sent = entries.flatMap((entry) => ("action" in entry && entry.action === "extraction" ? [entry.target] : []));
  return sent.map(Number);
}

describe("the budget of a day", () => {
  test("counts failed and repeated requests", async () => {
    asked.answer = (response) => response.writeHead(500, { "retry-after": "0" }).end();
    await extract();
    const [tokens = 0] = await sentCounts();
    expect([tokens > 100, asked.times]).toEqual([true, 3]);
    // Two more can be paid for, and the third is not sent.
    const daily_tokens = 5 * tokens + 1;
    expect((await extract({ daily_tokens })).stopped).toContain("budget");
    expect(asked.times).toBe(5);
    const { position } = await asked.recorder.health();
    expect((await extract({ daily_tokens })).stopped).toContain("budget");
    expect([asked.times, (await asked.recorder.health()).position]).toEqual([5, position]);
    asked.nowMs += 24 * 3_600_000;
    asked.answer = (response) => response.end(honest);
    expect((await extract({ daily_tokens })).candidates).toHaveLength(1);
  });

  test("is not spent on a server that cannot be reached", async () => {
    const nobody = createServer();
    await new Promise<void>((resolve) => nobody.listen(0, "127.0.0.1", resolve));
    const { port } = nobody.address() as AddressInfo;
    await new Promise((resolve) => nobody.close(resolve));
    const away = { url: `http://127.0.0.1:${port}/v1`, model: "liar" };
    for (let run = 0; run < 3; run += 1) {
      expect((await extract({ model: away })).stopped).toContain("ECONNREFUSED");
    }
    const [tokens = 0] = await sentCounts();
    asked.answer = (response) => response.end(honest);
    expect((await extract({ daily_tokens: tokens })).candidates).toHaveLength(1);
  });

  test("is not lost among 10,000 other audits of the day", async () => {
    asked.answer = (response) => response.writeHead(401).end();
    await extract();
    const [tokens = 0] = await sentCounts();
    const writeContext = { ...repeatableContext(7), nowMs: () => asked.nowMs };
    const audit = () => packOwn("audit", { action: "verdict", actor: "anna", target: "m" }, writeContext).entry;
    for (let batch = 0; batch < 11; batch += 1) {
      await asked.made.log.append([Array.from({ length: 1_000 }, audit)]);
    }
    const spent = await extract({ daily_tokens: 2 * tokens - 1 });
    expect([spent.stopped, asked.times]).toEqual([expect.stringContaining("budget"), 1]);
  });
});

describe("a command that", () => {
  test.each([
    ["fails", "exit 3", "status 3"],
    ["is killed", "kill -9 $$", "SIGKILL"],
    ["is none", "no-such-command-at-all", "status 127"],
  ])("%s stops the pass, which goes on", async (_, bad, reason) => {
    const { stopped, candidates } = await extract({ model: { via: bad } });
    expect([candidates, stopped]).toEqual([[], expect.stringContaining(reason)]);
    expect(await sentCounts()).toHaveLength(1);
    writeFileSync(answerFile, documentOf(told("preference", TRUE, 1, REQUEST)));
    expect((await extract({ model: { via } })).candidates).toHaveLength(1);
  });

  test("reads nothing, writes endless errors, and leaves a process with its output open still gets its answer read", async () => {
    writeFileSync(answerFile, documentOf(told("preference", TRUE, 1, REQUEST)));
    const pidFile = join(folder, "left-behind");
    const hostile = `sleep 600 & echo $! > ${pidFile}; yes | head -c 5000000 >&2; cat ${answerFile}`;
    onTestFinished(() => void process.kill(Number(readFileSync(pidFile, "utf8"))));
    expect((await extract({ model: { via: hostile } })).candidates).toHaveLength(1);
  });

  test("hangs is ended with all that it started", async () => {
    const pidFile = join(folder, "hanging");
    const hanging = `sleep 600 & echo $! > ${pidFile}.new; mv ${pidFile}.new ${pidFile}; wait`;
    await asked.recorder.learn({ entries_min: 1, model: { via: hanging }, look_ms: 1, gather_ms: 0 });
    await expect.poll(() => existsSync(pidFile)).toBe(true);
    const pid = Number(readFileSync(pidFile, "utf8"));
    await asked.recorder.close();
    await expect.poll(() => isRunning(pid)).toBe(false);
  });

  test("is given a key is written down without it, and its program alone", async () => {
    const secret = "KEY=not-for-the-record";
    const asked_for = `KEY=$(echo not-for-the-record) ${via}`;
    const spelled = [`${secret} ${via}`, `'cat' > /dev/null; : ${secret}; echo`, `$(echo cat); : ${secret}`];
    for (const command of [...spelled, asked_for]) await extract({ model: { via: command } });
    const { entries } = await asked.recorder.listEntries({ kind: "audit", limit: 100 });
    const actors = entries.flatMap((entry) => ("actor" in entry ? [entry.actor] : []));
    expect(new Set(actors)).toEqual(new Set(["model:cat", "model:command", "person"]));
    expect(JSON.stringify(entries)).not.toContain("not-for-the-record");
  });
});

/** A process that was not waited for yet (a zombie) has ended. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^\d+ \(.*\) Z/.test(existsSync(`/proc/${pid}/stat`) ? readFileSync(`/proc/${pid}/stat`, "utf8") : "");
  } catch {
    return false;
  }
}
