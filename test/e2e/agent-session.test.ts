// Model calls of coding agents belong to the agent's session, as their headers or metadata name it.
import { expect, onTestFinished, test } from "vitest";
import { recordingFetch } from "../../client/index.js";
import { serveProxy } from "../../src/surfaces/proxy/recording-proxy.js";
import { startScriptedModel } from "../agents/scripted-model.js";
import { memoryRecorder } from "../support/memory-recorder.js";

const userId = JSON.stringify({ device_id: "d", session_id: "in-metadata" });

test.each([
  [{ "x-claude-code-session-id": "claude-1" }, {}, { session_id: "claude-1" }],
  [{ "session-id": "codex-1" }, {}, { session_id: "codex-1" }],
  [{ "x-session-id": "ses_1" }, { metadata: { user_id: userId } }, { session_id: "ses_1" }],
  [{}, { metadata: { user_id: userId } }, { session_id: "in-metadata" }],
  [{}, { metadata: { user_id: "user_a_account_b_session_5b5b-1" } }, { session_id: "5b5b-1" }],
  [{}, { metadata: { user_id: "somebody" } }, { session_id: "" }],
  [{ "x-session-id": "no id\u00e9" }, {}, { session_id: "" }],
])("with headers %o and %o a call is labelled %o", async (headers, more, labels) => {
  const model = await startScriptedModel({ hello: [{ say: "Hello." }] });
  onTestFinished(() => model.close());
  const { recorder } = memoryRecorder();
  const proxy = await serveProxy({ recorder, port: 0, to: model.address, labels: {}, onLost: () => undefined });
  onTestFinished(() => proxy.close());
  const messages = [{ role: "user", content: "Hi. (script hello)" }];
  const tools = [{ name: "Bash", input_schema: { properties: {} } }];
  const body = JSON.stringify({ model: "m", max_tokens: 10, messages, tools, ...more });
  const init = { method: "POST", headers: { "content-type": "application/json", ...headers }, body };
  await (await recordingFetch(recorder)(`${model.address}/v1/messages`, init)).text();
  await (await fetch(`${proxy.address}/v1/messages`, init)).text();
  await expect.poll(async () => (await recorder.listInteractions({})).interactions.length).toBe(2);
  const { interactions } = await recorder.listInteractions({ full: true });
  expect(interactions).toMatchObject([labels, labels]);
});

test("a session that is given is kept", async () => {
  const model = await startScriptedModel({});
  onTestFinished(() => model.close());
  const { recorder } = memoryRecorder();
  const headers = { "content-type": "application/json", "x-session-id": "theirs" };
  const body = JSON.stringify({ model: "m", messages: [{ role: "user", content: "Hi." }] });
  const own = { recordInteraction: recorder.recordInteraction.bind(recorder), currentLabels: { session_id: "ours" } };
  await (await recordingFetch(own)(`${model.address}/v1/messages`, { method: "POST", headers, body })).text();
  const listed = async () => (await recorder.listInteractions({})).interactions;
  await expect.poll(listed).toMatchObject([{ session_id: "ours" }]);
});
