// The lines that make each framework send its traces here.

interface OtlpSetup {
  readonly language: "bash" | "js" | "toml" | "json";
  readonly lines: (url: string) => readonly string[];
}

/** A key goes into the environment: nothing here prints one. */
export const otlpSetups: { readonly [name: string]: OtlpSetup } = {
  opentelemetry: {
    language: "bash",
    lines: (url) => [
      `export OTEL_EXPORTER_OTLP_ENDPOINT=${url} OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf OTEL_METRICS_EXPORTER=none`,
      'export OTEL_EXPORTER_OTLP_HEADERS="x-api-key=$HANSARD_KEY"',
    ],
  },
  "ai-sdk": {
    language: "js",
    lines: (url) => [
      `const exporter = new OTLPTraceExporter({ url: "${url}/v1/traces", headers: { "x-api-key": process.env.HANSARD_KEY ?? "" } });`,
      "new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporter)] }).register();",
    ],
  },
  openllmetry: {
    language: "js",
    lines: (url) => [
      `const headers = { "x-api-key": process.env.HANSARD_KEY ?? "" };`,
      `traceloop.initialize({ baseUrl: "${url}", headers, instrumentModules: { openAI: OpenAI } });`,
    ],
  },
  openinference: {
    language: "js",
    lines: (url) => [
      `const exporter = new OTLPTraceExporter({ url: "${url}/v1/traces", headers: { "x-api-key": process.env.HANSARD_KEY ?? "" } });`,
      "new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporter)] }).register();",
    ],
  },
  langfuse: {
    language: "bash",
    lines: (url) => [
      `export LANGFUSE_BASE_URL=${url} LANGFUSE_PUBLIC_KEY=hansard`,
      'export LANGFUSE_SECRET_KEY="$HANSARD_KEY"',
    ],
  },
  "claude-code": {
    language: "bash",
    lines: (url) => [
      `export CLAUDE_CODE_ENABLE_TELEMETRY=1 CLAUDE_CODE_ENHANCED_TELEMETRY_BETA=1 OTEL_LOGS_EXPORTER=otlp OTEL_TRACES_EXPORTER=otlp OTEL_LOG_USER_PROMPTS=1 OTEL_LOG_TOOL_DETAILS=1 OTEL_LOG_TOOL_CONTENT=1`,
      `export OTEL_EXPORTER_OTLP_PROTOCOL=http/json OTEL_EXPORTER_OTLP_ENDPOINT=${url} OTEL_EXPORTER_OTLP_HEADERS="x-api-key=$HANSARD_KEY"`,
    ],
  },
  codex: {
    language: "toml",
    lines: (url) => [
      "[otel]",
      `exporter = { otlp-http = { endpoint = "${url}/v1/logs", protocol = "json" } }`,
      "log_user_prompt = true",
    ],
  },
  "gemini-cli": {
    language: "json",
    lines: (url) => [
      `{ "telemetry": { "enabled": true, "target": "local", "otlpEndpoint": "${url}", "otlpProtocol": "http", "logPrompts": true } }`,
    ],
  },
  copilot: {
    language: "bash",
    lines: (url) => [
      `export COPILOT_OTEL_ENABLED=true OTEL_EXPORTER_OTLP_PROTOCOL=http/json OTEL_EXPORTER_OTLP_ENDPOINT=${url}`,
      'export OTEL_EXPORTER_OTLP_HEADERS="x-api-key=$HANSARD_KEY"',
    ],
  },
};
