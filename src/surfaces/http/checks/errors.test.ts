// Faults and failures as the caller and the log see them.
import { describe, expect, test } from "vitest";
import { memoryRecorder } from "../../../../test/support/memory-recorder.js";
import { Fault, type FaultCode } from "../../../model/fault.js";
import { createLogger } from "../logger.js";
import { createServer } from "../server.js";
import { statusByFault } from "./errors.js";

const SECRET = "the-recorded-secret";

/** A server whose store fails with this, and its log lines. */
function failingServer(failure: unknown) {
  const lines: string[] = [];
  const fail = async () => {
    throw failure;
  };
  const { recorder } = memoryRecorder();
  Object.assign(recorder, { append: fail, listEntries: fail, getEntry: fail, health: fail });
  const { logger } = createLogger({ level: "info", destination: { write: (line) => lines.push(line) } });
  return { app: createServer({ recorder, version: "1.2.3", logger }), lines };
}

const post = { method: "POST", url: `/interactions`, payload: { prompt: SECRET } } as const;

describe("a fault", () => {
  test.each(Object.entries(statusByFault))("%s is a %i with its message and hint", async (code, status) => {
    const { app } = failingServer(new Fault(code as FaultCode, "it failed", { hint: "Do this." }));
    const answer = await app.inject(post);
    expect(answer.statusCode).toBe(status);
    expect(answer.json()).toEqual({ error: { code, message: "it failed", hint: "Do this." } });
    expect(answer.headers["retry-after"]).toBe(status === 503 ? "1" : undefined);
  });

  test("is logged with its code", async () => {
    const { app, lines } = failingServer(new Fault("disk_full", "no space", { hint: "Make some." }));
    await app.inject(post);
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: 50, error: "disk_full", message: "no space", route: "/interactions" },
      { level: 30, status: 507, code: "disk_full" },
    ]);
  });
});

describe("an unexpected failure", () => {
  test("is a 500 without message or stack, which are logged under the request's id", async () => {
    const { app, lines } = failingServer(new TypeError("x is not a function"));
    const answer = await app.inject(post);
    expect(answer.statusCode).toBe(500);
    expect(answer.json()).toEqual({ error: { code: "internal", message: expect.stringContaining("req-1") } });
    expect(answer.body).not.toContain("not a function");
    const [logged] = lines.map((line) => JSON.parse(line));
    expect(logged).toMatchObject({ request: "req-1", error: "TypeError", message: "x is not a function" });
    expect(logged.stack[0]).toMatch(/^at /);
  });

  test("that quotes recorded text is logged without it", async () => {
    let failure: unknown;
    try {
      JSON.parse(SECRET);
    } catch (error) {
      failure = error;
    }
    const { app, lines } = failingServer(failure);
    await app.inject(post);
    expect(lines).toHaveLength(2);
    expect(lines.join("")).not.toContain("secret");
  });

  test.each(["text", null, 7])("may be any thrown value, such as %j", async (failure) => {
    const { app } = failingServer(failure);
    const answer = await app.inject(post);
    expect([answer.statusCode, answer.json().error.code]).toEqual([500, "internal"]);
  });
});

describe("the log", () => {
  test("has one line per request, with neither bodies nor queries in it", async () => {
    const { app, lines } = failingServer(new Fault("overloaded", "busy", { hint: "Wait." }));
    await app.inject({ method: "POST", url: "/interactions", payload: `{"prompt": ${SECRET}}`, headers: json });
    await app.inject({ method: "POST", url: "/entries", payload: { kind: SECRET, [SECRET]: 1 } });
    await app.inject(`/entries?project=${SECRET}&${SECRET}=1`);
    await app.inject(`/nowhere?q=${SECRET}`);
    await app.inject(`/entries/%zz?q=${SECRET}`);
    expect(lines.join("")).not.toContain(SECRET);
    const requests = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === "request");
    expect(requests.map(({ route, status, code }) => [route, status, code])).toEqual([
      ["/interactions", 400, "json_invalid"],
      ["/entries", 503, "overloaded"],
      ["/entries", 400, "parameter_unknown"],
      [null, 404, "route_not_found"],
      [null, 400, "request_invalid"],
    ]);
  });
});

const json = { "content-type": "application/json" };
