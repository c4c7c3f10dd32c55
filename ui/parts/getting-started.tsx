// Shown in an empty store: how to record the first entry.
import { Empty } from "./notice.js";

export function GettingStarted() {
  return (
    <Empty title="Nothing recorded yet">
      <p>Record a first interaction in one of these ways. It appears here at once.</p>
      <h2>With curl</h2>
      <pre>
        <code>{`curl ${location.origin}/interactions \\
  -H 'content-type: application/json' \\
  -d '{"prompt": "What is the capital of France?", "response": "Paris."}'`}</code>
      </pre>
      <h2>Import what is on this machine</h2>
      <p>Finds and reads transcripts of Claude Code, Codex, Gemini and others, and leaves them unchanged.</p>
      <pre>
        <code>hansard import --data {location.origin}</code>
      </pre>
      <h2>From JavaScript</h2>
      <pre>
        <code>{`import { openRecorder } from "hansard";

const recorder = await openRecorder({ data: "${location.origin}" });
await recorder.recordInteraction({
  prompt: "What is the capital of France?",
  response: "Paris.",
});
await recorder.close();`}</code>
      </pre>
      <p className="quiet">
        <a href="/docs">The documentation</a> lists every request with an example.
      </p>
    </Empty>
  );
}
