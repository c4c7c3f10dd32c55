// Calls and results in every broken combination, and what history makes of them.
import { describe, expect, test } from "vitest";
import {
  assistant,
  call,
  recordedSession,
  result,
  type SessionEntry,
  user,
} from "../../../test/support/recorded-session.js";
import type { OpenAiMessage } from "./model-input.js";

/** History in one line: calls as `a(c1,c2)`, results as `r(c1)=content`, other messages as `role:content`. */
async function line(
  entries: readonly SessionEntry[],
  options: { readonly include_pending?: boolean } = {},
): Promise<string> {
  const history = await (await recordedSession(...entries)).history(options);
  return history.map(word).join(" ");
}

function word(message: OpenAiMessage): string {
  if (message.tool_call_id !== undefined) return `r(${message.tool_call_id})=${message.content}`;
  const calls = message.tool_calls?.map((one) => one.id).join(",");
  return calls === undefined ? `${message.role}:${message.content}` : `a(${calls})`;
}

const toolCall = (tool_call_id: string, outcome: unknown): SessionEntry => ({
  kind: "tool_call",
  tool: "read",
  result: outcome,
  tool_call_id,
});

describe("a result", () => {
  test("is moved up to its call", async () => {
    const entries = [user("q"), assistant("", "c1"), user("still there?"), assistant("wait"), result("c1", "x")];
    expect(await line(entries)).toBe("user:q a(c1) r(c1)=x user:still there? assistant:wait");
  });

  test("belongs to the nearest call with its id before it", async () => {
    const entries = [user("q"), assistant("", "c1"), result("c1", "x"), assistant("", "c1"), result("c1", "y")];
    expect(await line(entries)).toBe("user:q a(c1) r(c1)=x a(c1) r(c1)=y");
  });

  test("that comes before its call is not its result", async () => {
    expect(await line([user("q"), result("c1"), assistant("a", "c1")])).toBe("user:q assistant:a");
  });

  test("without its call is left out, the others stay", async () => {
    const entries = [user("q"), assistant("", "c1"), result("c9"), result("c1", "x")];
    expect(await line(entries)).toBe("user:q a(c1) r(c1)=x");
  });

  test("without an id is left out", async () => {
    const nameless = { kind: "message", role: "tool", content: "?" };
    expect(await line([user("q"), nameless, assistant("a")])).toBe("user:q assistant:a");
  });

  test("that is the second for a call is left out", async () => {
    expect(await line([user("q"), assistant("", "c1"), result("c1", "x"), result("c1", "y")])).toBe(
      "user:q a(c1) r(c1)=x",
    );
  });

  test("may be a tool_call entry with the call's id, whole, and as JSON if it is not text", async () => {
    expect(await line([user("q"), assistant("", "c1"), toolCall("c1", { ok: true })])).toBe(
      'user:q a(c1) r(c1)={"ok":true}',
    );
  });

  test("as a tool message has precedence over a tool_call entry, whichever came first", async () => {
    const entries = [user("q"), assistant("", "c1"), toolCall("c1", "logged"), result("c1", "sent")];
    expect(await line(entries)).toBe("user:q a(c1) r(c1)=sent");
  });

  test("without its call is left out as a tool_call entry too", async () => {
    expect(await line([user("q"), toolCall("c1", "x"), toolCall("", "y")])).toBe("user:q");
  });
});

describe("a call", () => {
  test("without a result is left out, and its message too if it contains nothing else", async () => {
    const entries = [user("1"), assistant("", "c1"), user("2"), assistant("said", "c2"), user("3")];
    expect(await line(entries)).toBe("user:1 user:2 assistant:said user:3");
  });

  test("without a result is left out next to one that has its own", async () => {
    expect(await line([user("q"), assistant("", "c1", "c2"), result("c2", "x")])).toBe("user:q a(c2) r(c2)=x");
  });

  test("of the last message stays with include_pending, as do its answered siblings", async () => {
    const entries = [user("q"), assistant("", "c1", "c2"), result("c2", "x")];
    expect(await line(entries, { include_pending: true })).toBe("user:q a(c1,c2) r(c2)=x");
  });

  test("of an earlier message is left out with include_pending too", async () => {
    const entries = [user("q"), assistant("", "c1"), assistant("", "c2"), { kind: "error", error: "e" }];
    expect(await line(entries, { include_pending: true })).toBe("user:q a(c2)");
  });

  test("given twice in one message counts once", async () => {
    expect(await line([user("q"), assistant("", "c1", "c1"), result("c1", "x")])).toBe("user:q a(c1) r(c1)=x");
  });

  test.each([
    { id: "c1", name: "read", arguments: "{}" },
    { id: "c1", name: "read", input: {} },
    { id: "c1", type: "custom", custom: { name: "read", input: "{}" } },
    { id: "c1", function: { name: "read", arguments: {} } },
    { id: "c1", function: { name: "read" } },
  ])("in another form is written as OpenAI writes it: %j", async (given) => {
    const message = { ...assistant(""), tool_calls: [given] };
    const history = await (await recordedSession(user("q"), message, result("c1"))).history();
    expect(history[1]?.tool_calls).toStrictEqual([call("c1")]);
  });

  test.each([{}, { id: "c1" }, { function: { name: "read" } }, { id: 1, name: "read" }, { id: "", name: "read" }])(
    "without id or name is none: %j",
    async (given) => {
      const message = { ...assistant("a"), tool_calls: [given] };
      expect(await line([user("q"), message, result("c1")], { include_pending: true })).toBe("user:q assistant:a");
    },
  );

  test("with a name that no provider accepts gets the nearest allowed one", async () => {
    const message = { ...assistant(""), tool_calls: [{ id: "c1", name: "fs.read/all", arguments: "{}" }] };
    const history = await (await recordedSession(user("q"), message, result("c1"))).history();
    expect(history[1]?.tool_calls?.[0]?.function.name).toBe("fs_read_all");
  });
});

describe("a blank message", () => {
  test("is left out if it is the assistant's", async () => {
    const blank = [assistant(" \n"), assistant([]), assistant([{ type: "text", text: "\t" }])];
    expect(await line([user("q"), ...blank, assistant("a")])).toBe("user:q assistant:a");
  });

  test("stays if it is the user's, except in Anthropic's form", async () => {
    const session = await recordedSession(user("q"), user(" "));
    expect(await session.history()).toHaveLength(2);
    expect((await session.history({ format: "anthropic" })).messages).toEqual([{ role: "user", content: "q" }]);
  });
});

test("the record is not changed", async () => {
  const session = await recordedSession(user("q"), assistant(null, "c1"), result("c2"));
  await session.history();
  const { entries } = await session.entries();
  expect(entries).toMatchObject([{ content: "q" }, { tool_calls: [call("c1")] }, { tool_call_id: "c2" }]);
});
