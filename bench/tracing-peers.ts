// What agents are observed with otherwise: a span of OpenTelemetry and a generation of Langfuse for each model call, batched
// in memory as their packages do by default, and exported to an address of ours.
import { LangfuseSpanProcessor } from "@langfuse/otel";
import { setLangfuseTracerProvider, startObservation } from "@langfuse/tracing";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { NodeTracerProvider } from "@opentelemetry/sdk-trace-node";

export interface ModelCall {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly response: string;
  readonly model: string;
  readonly usage: { readonly input_tokens: number; readonly output_tokens: number };
}

export interface TracingPeers {
  /** Begins a span with what the call was about, in the attributes that are agreed upon for it. */
  readonly span: (call: ModelCall) => { end(): void };
  readonly generation: (call: ModelCall) => { end(): void };
  close(): Promise<void>;
}

export function startTracingPeers(address: string): TracingPeers {
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
