// What recording costs an agent while it works: how long a capture keeps it from its next step, and how much later the first
// byte of an answer is there.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { LangfuseSpanProcessor } from "@langfuse/otel";
import { setLangfuseTracerProvider, startObservation } from "@langfuse/tracing";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { NodeTracerProvider } from "@opentelemetry/sdk-trace-node";
import { type ClientRecorder, connectRecorder, recordingFetch } from "../client/index.js";
import { type Measured, median, percentile, type Suite, type SuiteOptions } from "./figures.js";
import { start, stop } from "./http.js";

const MODEL = "m-1";
const SAID = "what an agent says to its model ".repeat(60);

export const agentPath: Suite = {
  name: "agent",
  about:
    "how long recording one model call (its messages of 4 KB, answer, usage) delays an agent: `recordInteraction` of the client SDK against a span of OpenTelemetry from start to end and a generation of Langfuse, all exported to one loopback address (a span is taken whole, since a capture is one call that copies all it is given, and a span does the same with each attribute that is set before its `end()`, which alone only closes it and is shown separately); and the first byte of a streamed answer through `recordingFetch` and `hansard proxy` against plain `fetch`",
  async run({ folder, rounds, scale }: SuiteOptions): Promise<readonly Measured[]> {
    const sink = await start(spawnNode(new URL("sink.js", import.meta.url).pathname));
    const main = new URL("../src/surfaces/cli/main.js", import.meta.url).pathname;
    const proxy = await start(
      spawnNode(main, "proxy", "--port", "0", "--to", sink.address, "--data", join(folder, "proxied")),
    );
    const bare = await start(spawnNode("--input-type=module", "-e", BARE_PROXY, sink.address));
    const recorder = connectRecorder({ url: sink.address, spool: join(folder, "spool") });
    try {
      const calls = await captureFigures(recorder, { address: sink.address, rounds, calls: Math.round(600 * scale) });
      const addresses = { model: sink.address, proxy: proxy.address, bare: bare.address };
      return [...calls, ...(await firstByteFigures(recorder, addresses, rounds * Math.round(80 * scale)))];
    } finally {
      await recorder.close();
      await stop(proxy.child);
      await stop(bare.child);
      await stop(sink.child);
    }
  },
};

/** What any proxy on Node adds: it copies and records nothing. */
const BARE_PROXY = `
  import { Agent, createServer, request } from "node:http";
  const agent = new Agent({ keepAlive: true });
  const server = createServer((asked, response) => {
    const { method, headers, url } = asked;
    asked.pipe(request(process.argv[1] + url, { method, headers, agent }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers).flushHeaders();
      answer.pipe(response);
    }));
  });
  server.listen(0, "127.0.0.1", () => console.log(\`http://127.0.0.1:\${server.address().port}\`));
`;

function spawnNode(...args: readonly string[]) {
  return spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
}

async function captureFigures(
  recorder: ClientRecorder,
  { address, rounds, calls }: { readonly address: string; readonly rounds: number; readonly calls: number },
): Promise<readonly Measured[]> {
  const peers = startTracingPeers(address);
  const record = ({ messages, response, model, usage }: ModelCall) =>
    recorder.recordInteraction({
      prompt: messages[1]?.content ?? "",
      response,
      model,
      usage,
      context_pack: { messages },
    });
  /** Each answers with what is timed. */
  const ways: { readonly [name: string]: (call: ModelCall) => () => unknown } = {
    ours: (call) => () => void record(call),
    span: (call) => () => peers.span(call).end(),
    generation: (call) => () => peers.generation(call).end(),
    spanEnd: (call) => {
      const span = peers.span(call);
      return () => span.end();
    },
    spool: (call) => () => record(call),
  };
  const times = Object.fromEntries(Object.keys(ways).map((name) => [name, [] as number[]]));
  // A round that only warms up comes first.
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, way] of Object.entries(ways)) {
      const taken = await timesOf(way, calls);
      if (round > 0) times[name]?.push(...taken);
    }
    await recorder.flush();
  }
  await peers.close();
  const of = (name: string, share: number): number => percentile(times[name] ?? [], share);
  return [0.5, 0.99].flatMap((share) => {
    const p = `p${share * 100}`;
    const against = (theirs: string, name: string): Measured => ({
      name: `${p} ÷ ${theirs}`,
      of: [`capture with the client, ${p}`, `${name}, ${p}`],
      target: { at_most: 0.5 },
    });
    return [
      { name: `capture with the client, ${p}`, value: of("ours", share), unit: "µs" },
      { name: `a span of OpenTelemetry, ${p}`, value: of("span", share), unit: "µs" },
      { name: `… of it its end() alone, ${p}`, value: of("spanEnd", share), unit: "µs" },
      { name: `a generation of Langfuse, ${p}`, value: of("generation", share), unit: "µs" },
      against("OpenTelemetry", "a span of OpenTelemetry"),
      against("Langfuse", "a generation of Langfuse"),
      { name: `capture, awaited until it is in the spool, ${p}`, value: of("spool", share), unit: "µs" },
    ];
  });
}

/** In microseconds. Each call stands in a turn of its own, as those of an agent do. */
async function timesOf(way: (call: ModelCall) => () => unknown, calls: number): Promise<readonly number[]> {
  const taken: number[] = [];
  for (let nth = 0; nth < calls; nth += 1) {
    const timed = way(callOf(nth));
    const startMs = performance.now();
    const done = timed();
    if (done !== undefined) await done;
    taken.push((performance.now() - startMs) * 1_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return taken;
}

/** Every call says something else, so that no text of the one before can be used again. */
function callOf(nth: number): ModelCall {
  const messages = [
    { role: "system", content: `${nth} ${SAID}` },
    { role: "user", content: `${SAID} ${nth}` },
  ];
  return { messages, response: SAID, model: MODEL, usage: { input_tokens: 900, output_tokens: 400 } };
}

async function firstByteFigures(
  recorder: ClientRecorder,
  addresses: { readonly model: string; readonly proxy: string; readonly bare: string },
  count: number,
): Promise<readonly Measured[]> {
  const recording = recordingFetch(recorder);
  const ways = {
    plain: () => firstByteMs(fetch, addresses.model),
    recording: () => firstByteMs(recording, addresses.model),
    bare: () => firstByteMs(fetch, addresses.bare),
    proxy: () => firstByteMs(fetch, addresses.proxy),
  };
  const times = { plain: [] as number[], recording: [] as number[], bare: [] as number[], proxy: [] as number[] };
  for (let nth = 0; nth < count; nth += 1) {
    for (const name of ["plain", "recording", "bare", "proxy"] as const) {
      const ms = await ways[name]();
      // Connections are made, and code is compiled, in the first tenth.
      if (nth >= count / 10) times[name].push(ms);
    }
  }
  const plain = median(times.plain);
  const [fetched, passed, proxied] = [times.recording, times.bare, times.proxy].map((list) => median(list) - plain);
  return [
    { name: "first byte, plain fetch, p50", value: plain, unit: "ms" },
    {
      name: "first byte through recordingFetch, later by",
      value: fetched as number,
      unit: "ms",
      target: { at_most: 1 },
    },
    {
      name: "first byte through a proxy on node:http that records nothing, later by",
      value: passed as number,
      unit: "ms",
    },
    {
      name: "first byte through hansard proxy, later by",
      value: proxied as number,
      unit: "ms",
      target: { at_most: 1 },
    },
  ];
}

async function firstByteMs(ask: typeof fetch, address: string): Promise<number> {
  const body = JSON.stringify({ ...callOf(0), stream: true });
  const startMs = performance.now();
  const answer = await ask(`${address}/v1/chat/completions`, { method: "POST", body });
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
  await reader.read();
  const ms = performance.now() - startMs;
  while (!(await reader.read()).done);
  return ms;
}

interface ModelCall {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly response: string;
  readonly model: string;
  readonly usage: { readonly input_tokens: number; readonly output_tokens: number };
}

interface TracingPeers {
  /** Begins a span with what the call was about, in the attributes that are agreed upon for it. */
  readonly span: (call: ModelCall) => { end(): void };
  readonly generation: (call: ModelCall) => { end(): void };
  close(): Promise<void>;
}

function startTracingPeers(address: string): TracingPeers {
  const exporter = new OTLPTraceExporter({ url: `${address}/v1/traces` });
  const telemetry = new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporter)] });
  const tracer = telemetry.getTracer("bench");
  const account = { publicKey: "pk-lf-bench", secretKey: "sk-lf-bench", baseUrl: address };
  const langfuse = new NodeTracerProvider({ spanProcessors: [new LangfuseSpanProcessor(account)] });
  setLangfuseTracerProvider(langfuse);
  return {
    span: ({ messages, response, model, usage }) =>
      tracer.startSpan(`chat ${model}`, {
        attributes: {
          "gen_ai.operation.name": "chat",
          "gen_ai.request.model": model,
          "gen_ai.input.messages": JSON.stringify(messages),
          "gen_ai.output.messages": response,
          "gen_ai.usage.input_tokens": usage.input_tokens,
          "gen_ai.usage.output_tokens": usage.output_tokens,
        },
      }),
    generation: ({ messages, response, model, usage }) => {
      const usageDetails = { input: usage.input_tokens, output: usage.output_tokens };
      return startObservation(
        "chat",
        { input: messages, output: response, model, usageDetails },
        { asType: "generation" },
      );
    },
    close: async () => {
      await telemetry.shutdown();
      await langfuse.shutdown();
    },
  };
}
