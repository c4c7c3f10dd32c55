// Aider's chat history: launches in one file, told apart by their headings; typed words, notes and answers by their form.
import { appendFileSync, utimesSync } from "node:fs";
import { expect, test } from "vitest";
import { counts, importBench } from "../../test/support/import-target.js";
import { expectLegalHistory } from "../../test/support/transcripts.js";

/** The tool ends typed words and notes with two spaces. */
const typed = (text: string) => `#### ${text}  `;
const noted = (text: string) => `> ${text}  `;

const first = [
  "",
  "# aider chat started at 2026-05-04 10:00:00",
  "",
  "> /usr/bin/aider --message Round",
  "",
  `the prices  `,
  noted("Aider v0.86.2"),
  noted("Model: gpt-5-mini with diff edit format"),
  "",
  typed("Round the prices."),
  typed(""),
  typed("All of them."),
  "",
  "<thinking-content-7bbe>",
  "Look first.",
  "</thinking-content-7bbe>",
  "",
  "#### A heading of the answer",
  "> a quote of the answer",
  "```md",
  typed("inside of a fence"),
  noted("inside, too"),
  "```",
  "",
  noted("Tokens: 2.5k sent, 1.2k cache hit, 16 received. Cost: $0.00013 message, $0.00013 session."),
  noted("Applied edit to money.ts"),
  "",
  typed("yes"),
  "",
  "Done.",
  "",
  typed("yes"),
  noted("litellm.RateLimitError: 529 overloaded"),
  "",
  typed("/run ls"),
  noted("Added 1 line of output to the chat."),
  "",
  typed("!pwd"),
  "",
  typed("/model opus"),
  noted("Main model: opus with diff edit format"),
  "",
  typed("<blank>"),
  "",
];
const second = [
  "# aider chat started at 2026-05-04 11:00:00",
  "",
  noted("/usr/bin/aider"),
  "",
  typed("broken off"),
  "",
  "```",
  "never closed",
  noted("^C again to exit"),
  typed("And again."),
  "",
  "Again.",
  "",
];

test("each launch is a session, and its lines are typed words, answers, notes and commands", async () => {
  const bench = importBench();
  const file = bench.write("shop/.aider.chat.history.md", [...first, ...second].join("\n"));
  expect(counts(await bench.import(file, { timezone: "Europe/Berlin" }))).toMatchObject({ sessions: 2, rejected: 0 });
  const entries = await bench.entries();
  const { sessions } = await bench.recorder.listSessions();
  const [later = "", earlier = ""] = sessions.map(({ session_id }) => session_id);
  expect([earlier, later]).toEqual([
    expect.stringMatching(/^aider-20260504100000-/),
    expect.stringMatching(/^aider-20260504110000-/),
  ]);
  const own = entries.filter(({ session_id }) => session_id === earlier);
  expect(own.filter(({ kind }) => kind === "message")).toMatchObject([
    {
      role: "user",
      content: "Round the prices.\n\nAll of them.",
      created_at: "2026-05-04T08:00:00.000Z",
      project: "shop",
      extra: { time_is: "file" },
    },
    {
      role: "assistant",
      content: expect.stringMatching(/^#### A heading[\s\S]*a quote[\s\S]*inside of a fence[\s\S]*inside, too/),
      extra: {
        model: "gpt-5-mini",
        cost: 0.00013,
        usage_is: "rounded",
        usage: { input_tokens: 2500, output_tokens: 16, cache_read_tokens: 1200 },
        reasoning_content: "Look first.",
      },
    },
    { content: "yes" },
    { content: "Done." },
    { content: "yes" },
    { content: "/model opus", extra: { command: { name: "/model", args: "opus" } } },
  ]);
  expect(own.filter(({ kind }) => kind === "tool_call")).toMatchObject([
    { tool: "!", args: { command: "ls" }, result: "Added 1 line of output to the chat." },
    { tool: "!", args: { command: "pwd" }, result: "", extra: { has_output: false } },
  ]);
  expect(own.filter(({ kind }) => kind === "error")).toMatchObject([
    { error: "litellm.RateLimitError: 529 overloaded" },
  ]);
  expect(JSON.stringify(own.filter(({ kind }) => kind === "raw"))).toContain("Applied edit to money.ts");
  const said = entries.filter((entry) => entry.session_id === later && entry.kind === "message");
  expect(said).toMatchObject([
    { content: "broken off" },
    { content: "```\nnever closed" },
    { content: "And again." },
    { content: "Again." },
  ]);
  await expectLegalHistory(bench.recorder, earlier);
  expect((await bench.import(file, { timezone: "Europe/Berlin" })).added).toBe(0);
});

test("a file that grows adds what is new, and an answer that is being written is left for later", async () => {
  const bench = importBench();
  const file = bench.write("shop/.aider.chat.history.md", [...first, ...second.slice(0, 7)].join("\n"));
  const watch = await bench.recorder.watchFiles(file, { poll: true, timezone: "UTC" });
  await watch.caughtUp();
  await watch.close();
  const words = async () =>
    (await bench.entries()).flatMap((entry) => (entry.kind === "message" ? [String(entry.content)] : []));
  expect((await words()).at(-1)).toBe("broken off");
  appendFileSync(file, `\n${second.slice(7).join("\n")}`);
  utimesSync(file, new Date("2026-05-04"), new Date("2026-05-04"));
  await bench.import(file);
  expect((await words()).slice(-4)).toEqual(["broken off", "```\nnever closed", "And again.", "Again."]);
  expect((await bench.import(file)).added).toBe(0);
});

test("text that only resembles a history is of no known format, and bytes that are no text are reported", async () => {
  const bench = importBench();
  const notes = bench.write("notes.md", "# Notes\n\nabout # aider chat started at 2026-05-04 10:00:00\n");
  expect(await bench.import(notes)).toMatchObject({
    added: 0,
    rejected: [{ reason: expect.stringContaining("unknown") }],
  });
  const bytes = Buffer.concat([Buffer.from(second.slice(0, 5).join("\n")), Buffer.from([10, 0xff, 0xfe, 10])]);
  const report = await bench.import(bench.write("odd.md", new Uint8Array(bytes)));
  expect(report.rejected).toMatchObject([{ line: 6, reason: expect.stringContaining("UTF-8") }]);
  expect(report.added).toBeGreaterThan(0);
  expect((await bench.import(bench.write("empty.md", second.slice(0, 1).join("\n")))).rejected).toEqual([]);
});
