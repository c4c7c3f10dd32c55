// Model calls that no entry could hold: what is cut, and what they say of it.
import { expect, test } from "vitest";
import { fitted } from "../../client/fitted-call.js";
import { sentKeys, withoutKeys } from "../../client/sent-keys.js";

const MIB = 1024 * 1024;

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

test("a call that fits stays what it is", () => {
  const call = { prompt: "p", response: "x".repeat(2 * MIB), extra: { content: [1, 2] } };
  expect(fitted(call)).toBe(call);
  const nearly = { prompt: "p", response: "x".repeat(14 * MIB) };
  expect(fitted(nearly)).toBe(nearly);
});

test.each([
  ["plain letters", "x"],
  ["letters of several bytes", "é"],
  ["pairs of surrogates", "👋"],
  ["what JSON escapes", "\u0001"],
])("the longest texts keep their beginning: %s", (_, letter) => {
  const long = letter.repeat((30 * MIB) / letter.length);
  const call = { prompt: "asked", response: long, latency_ms: 3, context_pack: { messages: [long, "short"] } };
  const cut = fitted(call);
  expect(bytesOf(cut)).toBeLessThan(16 * MIB);
  expect(bytesOf(cut)).toBeGreaterThan(14 * MIB);
  expect(long.startsWith(cut.response ?? "")).toBe(true);
  expect((cut.response ?? "").isWellFormed()).toBe(true);
  expect(cut).toMatchObject({
    prompt: "asked",
    latency_ms: 3,
    context_pack: { messages: [expect.any(String), "short"] },
  });
  expect(cut.extra).toMatchObject({ truncated_fields: ["response", "context_pack"] });
  const { truncated = 0 } = cut.extra as { readonly truncated?: number };
  expect(Math.abs(truncated + bytesOf(cut) - bytesOf(call))).toBeLessThan(1_000);
});

test("of too many values and levels the least useful parts are left out", () => {
  const many = Array.from({ length: 250_000 }, () => 1);
  let deep: unknown = 1;
  for (let level = 0; level < 250; level += 1) deep = [deep];
  const call = {
    prompt: "p",
    response: "r",
    context_pack: { messages: ["m"], tools: deep },
    extra: { content: many, a: 1 },
  };
  expect(fitted(call)).toEqual({
    prompt: "p",
    response: "r",
    context_pack: { messages: ["m"], tools: undefined },
    extra: { content: undefined, a: 1, truncated: 0, truncated_fields: ["extra.content", "context_pack.tools"] },
  });
});

test("keys are masked wherever they occur: in headers, addresses, cookies and passwords", () => {
  const keys = sentKeys(
    [
      ["authorization", "Bearer sk-secret-value-1"],
      ["x-api-key", 'quoted"value'],
      ["cookie", "a=cookie-value-1; b=2"],
      ["proxy-authorization", `Basic ${btoa("user:password-1")}`],
      ["idempotency-key", "not-a-secret-at-all"],
      ["content-type", "application/json"],
    ],
    "https://example.com/v1?key=AIza-secret-value&alt=sse",
  );
  const texts = ["sk-secret-value-1", "cookie-value-1", "password-1", "AIza-secret-value", btoa("user:password-1")];
  const call = {
    prompt: texts.join(" "),
    error: 'no: {\\"quoted\\"value\\"} quoted"value',
    extra: { a: ["xsk-secret-value-1x"] },
  };
  const masked = withoutKeys(call, keys);
  for (const text of [...texts, 'quoted"value']) expect(JSON.stringify(masked)).not.toContain(text);
  expect(masked.extra).toEqual({ a: ["x[masked]x"] });
  const harmless = { prompt: "not-a-secret-at-all, application/json, user, sse" };
  expect(withoutKeys(harmless, keys)).toEqual(harmless);
});
