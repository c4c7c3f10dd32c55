// What an answer led to: its tool calls, errors, what somebody thought of it, and the user's next words.
import type { ContextAnswer } from "../api.js";
import { Link, to } from "../router.js";
import { firstLine } from "../words.js";

export function LedTo({ ledTo }: { readonly ledTo: ContextAnswer["led_to"] }) {
  const { tool_calls, errors, feedback, next } = ledTo;
  const lines = [
    ...tool_calls.map(({ entry_id, tool, is_error }) => ({
      entry_id,
      what: is_error ? "failed call" : "call",
      text: tool,
    })),
    ...errors.map(({ entry_id, error }) => ({ entry_id, what: "error", text: error })),
    ...feedback.map(({ entry_id, score, label, comment }) => ({
      entry_id,
      what: "feedback",
      text: [score ?? "", label, comment].filter((word) => word !== "").join(" · "),
    })),
    ...(next === undefined ? [] : [{ entry_id: next.entry_id, what: "then", text: next.text }]),
  ];
  if (lines.length === 0) return null;
  return (
    <>
      <p className="aside">What followed</p>
      <ul className="given-messages" aria-label="What followed">
        {lines.map(({ entry_id, what, text }) => (
          <li key={entry_id}>
            <span className="speaker">{what}</span>
            <span dir="auto">{firstLine(text, 240)}</span>
            <Link to={to(["entries", entry_id])}>entry</Link>
          </li>
        ))}
      </ul>
    </>
  );
}
