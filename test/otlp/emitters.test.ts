// Real emitters from the registry against a running server: the examples of CONNECTING.md, run as a reader would, and
// OpenTelemetry's own exporters.
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SeverityNumber } from "@opentelemetry/api-logs";
import { OTLPLogExporter } from "@opentelemetry/exporter-logs-otlp-http";
import { OTLPTraceExporter as JsonExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { OTLPTraceExporter as ProtobufExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { BatchLogRecordProcessor, LoggerProvider } from "@opentelemetry/sdk-logs";
import { BasicTracerProvider, BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { expect, test } from "vitest";
import { repositoryRoot } from "../../scripts/repository-root.mjs";
import { runCommand } from "../../scripts/run-command.mjs";
import { startModel } from "../support/model-server.js";
import { folderOfTest } from "../support/temporary-folder.js";
import { ofKind, startTraceServer } from "./otlp-server.js";

const text = readFileSync(join(repositoryRoot, "docs", "CONNECTING.md"), "utf8");
const examples = new Map(
  [...text.matchAll(/^<!-- otlp: ([\w-]+) -->\n```js\n(.*?)^```$/gms)].map(([, name = "", code = ""]) => [name, code]),
);

/** Names that two versions of a package are installed under here. */
const installedAs: { readonly [example: string]: { readonly [name: string]: string } } = {
  "ai-sdk-7": { '"ai"': '"ai-7"', '"@ai-sdk/openai"': '"ai-sdk-openai-4"' },
};

const dialects: { readonly [example: string]: string } = {
  "ai-sdk-7": "gen-ai",
  "ai-sdk-6": "ai-sdk",
  openllmetry: "gen-ai",
  openinference: "open-inference",
  langfuse: "langfuse",
};

test("every framework has an example", () => {
  expect([...examples.keys()]).toEqual(["tracing", ...Object.keys(dialects)]);
});

test.each(Object.entries(dialects))("%s: a call is one interaction of its session", async (name, dialect) => {
  const server = await startTraceServer();
  const { key } = await server.recorder.keys.create({ scope: "capture" });
  const folder = folderOfTest();
  symlinkSync(join(repositoryRoot, "node_modules"), join(folder, "node_modules"), "junction");
  const place = (code: string): string => {
    let placed = code.replaceAll("http://127.0.0.1:4747", server.address);
    for (const [known, installed] of Object.entries(installedAs[name] ?? {}))
      placed = placed.replaceAll(known, installed);
    return placed;
  };
  writeFileSync(join(folder, "tracing.mjs"), place(examples.get("tracing") ?? ""));
  writeFileSync(join(folder, "example.mjs"), place(examples.get(name) ?? ""));
  const model = { OPENAI_BASE_URL: `${await startModel()}/v1`, OPENAI_API_KEY: "none" };
  const langfuse = { LANGFUSE_BASE_URL: server.address, LANGFUSE_PUBLIC_KEY: "any", LANGFUSE_SECRET_KEY: key };
  const env = { HANSARD_KEY: key, ...model, ...langfuse };
  const done = await runCommand(process.execPath, ["example.mjs"], { cwd: folder, env });
  expect(done, done.stderr).toMatchObject({ status: 0 });
  const [call, ...others] = ofKind(await server.derived(), "interaction");
  expect(others).toEqual([]);
  expect(call).toMatchObject({
    ...{ session_id: "cli:anna", prompt: "Why is the sky blue?" },
    usage: { input_tokens: 11, output_tokens: 7 },
    context_pack: { messages: [{ role: "user", content: "Why is the sky blue?" }] },
    extra: { otlp: { dialect } },
  });
  expect(call?.response).not.toBe("");
  expect(ofKind(await server.derived(), "error")).toEqual([]);
});

test("OpenTelemetry's exporters in protobuf and JSON, with gzip, and its log exporter", async () => {
  const server = await startTraceServer();
  const url = `${server.address}/v1/traces`;
  const compression = "gzip" as never;
  for (const exporter of [new ProtobufExporter({ url, compression }), new JsonExporter({ url, compression })]) {
    const provider = new BasicTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporter)] });
    for (let nth = 0; nth < 1_000; nth += 1) {
      const attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.conversation.id": "many",
        "gen_ai.input.messages": `[{"role":"user","content":"${nth}"}]`,
        "gen_ai.output.messages": '[{"role":"assistant","content":"ok"}]',
        "gen_ai.usage.input_tokens": 1,
      };
      provider.getTracer("exporters", "1.0").startSpan("chat", { attributes }).end();
    }
    await provider.shutdown();
  }
  const logExporter = new OTLPLogExporter({ url: `${server.address}/v1/logs` });
  const provider = new LoggerProvider({ processors: [new BatchLogRecordProcessor({ exporter: logExporter })] });
  const body = {
    "gen_ai.input.messages": [{ role: "user", content: "logged" }],
    "gen_ai.output.messages": [{ role: "assistant", content: "yes" }],
  };
  const record = { eventName: "gen_ai.client.inference.operation.details", severityNumber: SeverityNumber.INFO, body };
  provider
    .getLogger("exporters")
    .emit({ ...record, attributes: { "session.id": "many", "gen_ai.operation.name": "chat" } });
  await provider.shutdown();
  await expect
    .poll(async () => (await server.get("/sessions/many")).body.interactions, { timeout: 30_000 })
    .toBe(2_001);
  expect((await server.get("/usage")).body.total).toMatchObject({ calls: 2_000, input_tokens: 2_000 });
}, 60_000);
