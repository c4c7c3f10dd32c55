// What a key that may only write learns from answers: nothing of what others recorded.
import { beforeAll, expect, test } from "vitest";
import { type HttpResponse, serverOfFile } from "../e2e/http-client.js";

const server = serverOfFile();
const keys: { [name: string]: string } = {};
const SECRET = "The vault opens with the code 73914, always";
const OWN = "From now on answer in German, every single time";

const headersOf = (name: string) => ({ authorization: `Bearer ${keys[name]}`, "content-type": "application/json" });
const said = { kind: "message", role: "user", project: "p" };

beforeAll(async () => {
  for (const [name, scope] of [
    ["reviewer", "review"],
    ["owner", "capture"],
    ["guesser", "capture"],
  ] as const) {
    keys[name] = (await server().recorder.keys.create({ scope })).key;
  }
  const record = (name: string, entry: object) => server().post("/entries", entry, headersOf(name));
  await record("owner", { ...said, id: "secret", session_id: "a", content: SECRET });
  await record("guesser", { ...said, id: "own", session_id: "b", content: OWN });
});

function propose(name: string, content: string, entry_id: string, quote: string, more = {}): Promise<HttpResponse> {
  const proposal = { status: "candidate", type: "preference", content, evidence: [{ entry_id, quote }], ...more };
  return server().post("/memories", proposal, headersOf(name));
}

async function candidates(): Promise<readonly string[]> {
  const { body } = await server().request("/memories?status=candidate", { headers: headersOf("reviewer") });
  return body.memories.map(({ content }: { readonly content: string }) => content);
}

test("right and wrong quotes of another key's entry get one answer, and neither is proposed", async () => {
  const answers = [
    await propose("guesser", "The vault opens with the code 73914", "secret", SECRET),
    await propose("guesser", "The vault opens with the code 73915", "secret", SECRET.replace("4", "5")),
    await propose("guesser", "The vault opens with the code 73914", "missing", SECRET),
    await propose("guesser", "Maybe?", "own", OWN),
  ];
  for (const { status, body } of answers) expect([status, body]).toEqual([202, { status: "taken" }]);
  expect(await candidates()).toEqual([]);
});

test("quotes of its own entries are proposed, and the answer is the same", async () => {
  const taken = await propose("guesser", "Answer in German, every single time", "own", OWN, { id: "german" });
  expect([taken.status, taken.body]).toEqual([202, { status: "taken" }]);
  expect(await candidates()).toEqual(["Answer in German, every single time"]);
});

test("an id that is taken gets the same answer, whatever the memory says", async () => {
  for (const content of ["Answer in German, every single time", "Answer in French, every single time"]) {
    const { status, body } = await propose("owner", content, "secret", SECRET, { id: "german" });
    expect([status, body]).toEqual([202, { status: "taken" }]);
  }
});

test("what can be refused without looking at the record says so", async () => {
  const refused = await propose("guesser", "Answer in German", "own", "");
  expect([refused.status, refused.body.error.code]).toEqual([400, "field_invalid"]);
});

test("a key that may read learns which gate dropped its proposal", async () => {
  const proposed = await propose("reviewer", "The vault opens with the code 73914", "secret", SECRET);
  expect(proposed.status).toBe(201);
  const dropped = await propose("reviewer", "The vault opens with the code 73915", "secret", SECRET.replace("4", "5"));
  expect([dropped.status, dropped.body.dropped]).toEqual([200, "evidence"]);
});
