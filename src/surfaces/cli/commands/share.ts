// `hansard share`: one session as one HTML page that anybody can read, and that `hansard verify` checks.
import { statSync } from "node:fs";
import type { Command } from "commander";
import { type CommandModule, helpText, systemUser, withRecorder } from "../command.js";
import { exitStatus } from "../failures.js";
import { namedSession } from "../named-session.js";
import { formatBytes } from "../text/table.js";
import { pathText } from "../text/terminal.js";
import { refuseExisting, writeOut, writeWhole } from "../written-file.js";

export const shareCommand: CommandModule = {
  define(command: Command): void {
    command
      .argument("<session>", "the session's id, or a beginning of it")
      .requiredOption("--out <file>", "the page to write, or - for standard output")
      .option("--force", "replace an existing file")
      .option("--json", "print errors as JSON; the page itself does not change")
      .addHelpText(
        "after",
        helpText(
          [
            `Secrets are masked. The page needs no network and no script, and runs none. It holds the hashes of the session's entries
and a seal, so \`hansard verify FILE.html\` can compare it with the store. Read it before you send it: masking finds well-known
tokens and the values that you registered, not everything that is private.`,
          ],
          [
            ["a page for a colleague", "hansard share 80be479e --out session.html"],
            ["check one", "hansard verify session.html"],
          ],
        ),
      );
  },

  async run(invocation) {
    const { operands, options, screen } = invocation;
    const out = String(options.out);
    if (out !== "-") refuseExisting([out], options.force === true);
    await withRecorder(invocation, { create: false }, async (recorder) => {
      const { session_id } = await namedSession(recorder, operands[0] ?? "");
      const onUnaudited = (): void => screen.err.write("The store is read-only, so this page has no audit entry.\n");
      const page = recorder.exportEntries({ format: "html", session_id, actor: systemUser(), onUnaudited });
      await (out === "-" ? writeOut(page) : writeWhole(out, page));
    });
    if (out !== "-") screen.err.write(`Wrote ${formatBytes(statSync(out).size)} to ${pathText(out)}.\n`);
    return exitStatus.done;
  },
};
