// A question to whoever sits at the terminal, before something is done.
import { createInterface } from "node:readline/promises";

interface Terminal {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
}

/** Whether the answer is yes; whoever ends the question (Ctrl-C, Ctrl-D) has said no. */
export async function isAgreed(
  question: string,
  { input, output }: Terminal = { input: process.stdin, output: process.stderr },
): Promise<boolean> {
  const asking = createInterface({ input, output, terminal: true });
  const ended = new AbortController();
  asking.once("close", () => ended.abort());
  try {
    return /^y(es)?$/i.test((await asking.question(question, { signal: ended.signal })).trim());
  } catch (error) {
    if ((error as Error).name !== "AbortError") throw error;
    output.write("\n");
    return false;
  } finally {
    asking.close();
  }
}
