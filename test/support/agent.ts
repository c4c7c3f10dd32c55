// An agent as a process of its own: captures so many entries through the client SDK, says so, and follows commands.
import { connectRecorder } from "../../client/index.js";

const [url = "", spool = "", from = "1", count = "0", ending = "exit", voice = "silent"] = process.argv.slice(2);

// Aloud it says what it loses as it would by itself; without a folder it has nothing but its memory.
const telling = voice === "aloud" ? {} : { onProblem: () => undefined };
const recorder = connectRecorder({ url, spool: spool === "" ? false : spool, retry_ms_max: 200, ...telling });
const session = recorder.session("agent");
for (let at = Number(from); at < Number(from) + Number(count); at += 1) {
  void session.message({ role: "user", content: `entry ${at}` });
}
if (ending === "exit") process.exit(0);
if (ending === "wait") {
  await session.error({ error: "waiting" });
  process.stdout.write("captured\n");
  setInterval(() => undefined, 1_000);
}
if (ending === "flush") {
  const { sent } = await recorder.flush({ timeout_ms: 60_000 });
  process.stdout.write(`sent ${sent}\n`);
}
