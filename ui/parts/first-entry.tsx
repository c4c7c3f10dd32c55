// An empty record: how the first entry gets into this very store.
import { Empty } from "./notice.js";

export function FirstEntry() {
  return (
    <Empty title="Nothing recorded yet">
      <p>Record the first interaction in whichever way suits you. It appears here at once.</p>
      <h2>With curl</h2>
      <pre>
        <code>{`curl ${location.origin}/interactions \\
  -H 'content-type: application/json' \\
  -d '{"prompt": "What is the capital of France?", "response": "Paris."}'`}</code>
      </pre>
      <h2>What is on this machine already</h2>
      <p>Transcripts of Claude Code, Codex, Gemini and others are looked for, read as they are, and left untouched.</p>
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
        <a href="/docs">The documentation</a> has every call, with an example of each.
      </p>
    </Empty>
  );
}
