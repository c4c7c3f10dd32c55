// `hansard otlp`: the lines that point a framework here, and mapping again.
import { expect, test } from "vitest";
import { openRecorder } from "../../src/index.js";
import { otlpSetups } from "../../src/surfaces/cli/otlp-setups.js";
import { runCli } from "../e2e/cli-run.js";
import { folderOfTest } from "../support/temporary-folder.js";
import { agentTrace, traces } from "./otlp-bodies.js";
import { derivedIn } from "./otlp-server.js";

test("setup prints few lines that name the server, and never a key", async () => {
  for (const name of Object.keys(otlpSetups)) {
    const { status, stdout } = await runCli(["otlp", "setup", name, "--url", "https://record.example.com/"], {
      env: { HANSARD_KEY: "hansard_secret" },
    });
    expect([name, status]).toEqual([name, 0]);
    expect(stdout.trim().split("\n").length).toBeLessThan(4);
    expect(stdout).toContain("https://record.example.com");
    expect(stdout).not.toContain("example.com//");
    expect(stdout).not.toContain("hansard_secret");
  }
});

test("wrong use says what there is", async () => {
  for (const [args, words] of [
    [["otlp", "setup", "langfus"], "Use one of opentelemetry"],
    [["otlp", "setup"], "is missing"],
    [["otlp", "remove"], "Use setup or remap"],
    [["otlp", "remap", "all"], "all recorded traces"],
  ] as const) {
    const { status, stderr } = await runCli([...args]);
    expect([args, status, stderr]).toEqual([args, 2, expect.stringContaining(words)]);
  }
});

test("remap reads all traces of a store, and says what it added", async () => {
  const data = folderOfTest();
  const recorder = await openRecorder({ data });
  const bytes = Buffer.from(JSON.stringify(traces(agentTrace())));
  await recorder.recordTelemetry({ signal: "traces", form: "json", bytes });
  await recorder.assembleTraces();
  await derivedIn({ recorder });
  await recorder.close();
  const { status, stdout } = await runCli(["otlp", "remap", "--data", data]);
  expect([status, stdout]).toEqual([0, "1 trace read, 0 entries added.\n"]);
  expect(JSON.parse((await runCli(["otlp", "remap", "--json", "--data", data])).stdout)).toEqual({
    traces: 1,
    added: 0,
  });
});
